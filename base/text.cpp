#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dtnn {

std::string grouped(std::int64_t number) {
    std::string text = fmt::format("{}", number);
    const std::ptrdiff_t first_digit = number < 0 ? 1 : 0;
    for (auto at = std::ptrdiff_t(text.size()) - 3; at > first_digit; at -= 3)
        text.insert(std::size_t(at), 1, ',');
    return text;
}

std::string count_text(std::int64_t count, std::string_view one, std::string_view many) {
    const bool plural = count != 1;
    return fmt::format("{} {}{}", grouped(count), plural && !many.empty() ? many : one,
                       plural && many.empty() ? "s" : "");
}

std::string real_text(double value) {
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".en") == std::string::npos) text += ".0";
    return text;
}

std::string shape_text(std::span<const std::int64_t> extents, std::string_view times) {
    return fmt::format("{}", fmt::join(extents, times));
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
    return result;
}

std::size_t characters(std::string_view text) {
    return std::size_t(std::count_if(text.begin(), text.end(), begins_character));
}

std::size_t byte_of_character(std::string_view text, std::size_t index) {
    std::size_t seen = 0;
    for (std::size_t at = 0; at < text.size(); ++at)
        if (begins_character(text[at]) && seen++ == index) return at;
    return text.size();
}

}  // namespace dtnn
