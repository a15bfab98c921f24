#include "base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace dtnn {

std::size_t utf8_length(std::string_view text) {
    if (text.empty()) return 0;
    const auto at = [&](std::size_t i) { return std::uint8_t(text[i]); };
    const std::uint8_t first = at(0);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((at(i) & 0xC0U) != 0x80U) return 0;
    const std::uint8_t second = at(1);
    const bool sound = !(first == 0xE0 && second < 0xA0) && !(first == 0xED && second > 0x9F) &&
                       !(first == 0xF0 && second < 0x90) && !(first == 0xF4 && second > 0x8F);
    return sound ? length : 0;
}

bool is_utf8(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::size_t length = utf8_length(bytes);
        if (length == 0) return false;
        bytes.remove_prefix(length);
    }
    return true;
}

unsigned code_point(std::string_view text, std::size_t length) {
    const auto at = [&](std::size_t i) { return unsigned(std::uint8_t(text[i])); };
    if (length == 1) return at(0);
    unsigned code = at(0) & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i)
        code = code << 6U | (at(i) & 0x3FU);
    return code;
}

std::size_t shown_length(std::string_view text, std::string_view kept) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return 0;
    const unsigned code = code_point(text, length);
    const auto within = [code](unsigned first, unsigned last) {
        return code >= first && code <= last;
    };
    if (length == 1) {
        const bool control = code < 0x20 || code == 0x7F;
        return control && kept.find(text[0]) == std::string_view::npos ? 0 : 1;
    }
    const bool c1 = within(0x80, 0x9F), no_character = within(0xFFFE, 0xFFFF);
    // Unicode's Bidi_Control, and the separators of lines and paragraphs.
    const bool turns = code == 0x061C || within(0x200E, 0x200F) || within(0x2028, 0x202E) ||
                       within(0x2066, 0x2069);
    return c1 || turns || no_character ? 0 : length;
}

std::string shown(std::string_view text, std::string_view kept) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = shown_length(text, kept);
        if (length > 0)
            out += text.substr(0, length);
        else
            out += fmt::format("\\x{:02X}", std::uint8_t(text[0]));
        text.remove_prefix(length > 0 ? length : 1);
    }
    return out;
}

std::string shown_lines(std::string_view text) {
    return shown(text, "\n\t");
}

std::string printable(std::string_view text) {
    constexpr std::size_t kMost = 200;
    std::string out;
    while (!text.empty()) {
        if (out.size() >= kMost) return out + "...";
        const std::size_t length = std::max<std::size_t>(1, shown_length(text, ""));
        out += shown(text.substr(0, length));
        text.remove_prefix(length);
    }
    return out;
}

std::string utf8_of(unsigned point) {
    const auto last = [&](unsigned shift) { return char(0x80u | (point >> shift & 0x3Fu)); };
    if (point < 0x80) return {char(point)};
    if (point < 0x800) return {char(0xC0u | point >> 6), last(0)};
    if (point < 0x10000) return {char(0xE0u | point >> 12), last(6), last(0)};
    return {char(0xF0u | point >> 18), last(12), last(6), last(0)};
}

}  // namespace dtnn
