#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace dtnn {

std::string grouped(std::int64_t number) {
    std::string text = fmt::format("{}", number);
    const std::ptrdiff_t first_digit = number < 0 ? 1 : 0;
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > first_digit; at -= 3)
        text.insert(static_cast<std::size_t>(at), 1, ',');
    return text;
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

int characters(std::string_view text) {
    return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
}

}  // namespace dtnn
