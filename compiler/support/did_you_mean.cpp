#include <algorithm>
#include <cctype>

#include "compiler/support/diagnostics.hpp"

namespace dtnn::compiler {
namespace {

/// Case and separators are what people misremember most: `BatchNorm2D`, `max-pool2d`.
std::string normalised(std::string_view word) {
    std::string result;
    for (const char c : word)
        if (c != '_' && c != '-' && c != ' ')
            result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

/// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours count one
/// each.
std::size_t distance(const std::string& a, const std::string& b) {
    const std::size_t columns = b.size() + 1;
    std::vector<std::size_t> before(columns), previous(columns), current(columns);
    for (std::size_t j = 0; j < columns; ++j)
        previous[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        current[0] = i;
        for (std::size_t j = 1; j < columns; ++j) {
            const std::size_t substitute = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            current[j] = std::min({substitute, previous[j] + 1, current[j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                current[j] = std::min(current[j], before[j - 2] + 1);
        }
        std::swap(before, previous);
        std::swap(previous, current);
    }
    return previous.back();
}

}  // namespace

std::optional<std::string> did_you_mean(std::string_view word,
                                        const std::vector<std::string>& candidates) {
    // A longer word than any name is no typo, and the distance is quadratic.
    if (word.empty() || word.size() > 100) return std::nullopt;
    const std::string wanted = normalised(word);
    if (wanted.empty()) return std::nullopt;

    const std::string* best = nullptr;
    std::size_t best_distance = 0;
    for (const std::string& candidate : candidates) {
        const std::string name = normalised(candidate);
        const std::size_t longer = std::max(name.size(), wanted.size());
        const std::size_t limit = std::max<std::size_t>(1, longer / 3);
        if (longer - std::min(name.size(), wanted.size()) > limit) continue;
        const std::size_t steps = distance(wanted, name);
        // Words with no letter in place are not near, however short they are.
        if (steps > limit || steps >= std::min(name.size(), wanted.size())) continue;
        if (!best || steps < best_distance) {
            best = &candidate;
            best_distance = steps;
        }
    }
    if (best) return *best;

    // Half-remembered names: `cross_entropy`, `rate`. Only when they single one candidate out.
    if (wanted.size() >= 4) {
        for (const std::string& candidate : candidates) {
            if (normalised(candidate).find(wanted) == std::string::npos) continue;
            if (best) return std::nullopt;
            best = &candidate;
        }
        if (best) return *best;
    }
    return std::nullopt;
}

}  // namespace dtnn::compiler
