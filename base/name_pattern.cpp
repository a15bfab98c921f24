#include "base/name_pattern.hpp"

#include <cstddef>

namespace dtnn {

bool matches_pattern(std::string_view name, std::string_view pattern) {
    // The last star takes as little as it can, and one character more whenever the rest fails: time
    // is at most the product of the lengths.
    std::size_t at = 0, next = 0, star = std::string_view::npos, taken = 0;
    while (at < name.size()) {
        if (next < pattern.size() && pattern[next] == '*') {
            star = next++;
            taken = at;
        } else if (next < pattern.size() && (pattern[next] == '?' || pattern[next] == name[at])) {
            ++at;
            ++next;
        } else if (star != std::string_view::npos) {
            next = star + 1;
            at = ++taken;
        } else {
            return false;
        }
    }
    while (next < pattern.size() && pattern[next] == '*')
        ++next;
    return next == pattern.size();
}

}  // namespace dtnn
