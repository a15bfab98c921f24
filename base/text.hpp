#pragma once
/// Text and numbers as people read them. Pure functions; nothing here depends on the locale.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dtnn {

/// 1234567 as "1,234,567".
std::string grouped(std::int64_t number);

/// A number of things: "1 layer", "1,234 layers". Without `many` the plural ends with an s.
std::string count_text(std::int64_t count, std::string_view one, std::string_view many = {});

/// The shortest digits that read back as the same double, with ".0" where nothing else says that
/// the number is real: "2.0", "1e+20", "inf", "nan".
std::string real_text(double value);

/// The extents of a shape with `times` between them: "3x32x32"; empty for a scalar.
std::string shape_text(std::span<const std::int64_t> extents, std::string_view times = "x");

/// The multiplication sign of typeset text, for shape_text.
inline constexpr std::string_view kTimesSign = "\u00d7";

/// ASCII letters in lower case; other bytes as they are.
std::string lower(std::string_view text);

/// How many characters UTF-8 text has: its bytes without continuation bytes.
std::size_t characters(std::string_view text);

/// Whether a byte of UTF-8 text begins a character.
constexpr bool begins_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

/// The index of the byte at which character `index`, counted from zero, begins; the size of the
/// text where it has no more than `index` characters.
std::size_t byte_of_character(std::string_view text, std::size_t index);

}  // namespace dtnn
