#pragma once
/// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing past U+10FFFF.

#include <cstddef>
#include <string>
#include <string_view>

namespace dtnn {

/// The length in bytes of the character that begins the text; 0 where none does.
std::size_t utf8_length(std::string_view text);

bool is_utf8(std::string_view bytes);

/// Text from outside, to be shown: a terminal, a browser or a table does nothing with it but show
/// it. The bytes of control characters (those of C1, and those that turn the direction of what
/// follows or end lines, too), of what XML may not hold, and those that are not UTF-8 are written
/// as \xNN, but for the characters of `kept`.
std::string shown(std::string_view text, std::string_view kept = "");

/// The length of the character that begins the text, where it may be shown as it is; else 0.
std::size_t shown_length(std::string_view text, std::string_view kept = "");

/// Text of several lines for a terminal: line ends and tabs stay.
std::string shown_lines(std::string_view text);

/// The code point of the character of so many bytes that begins the text.
unsigned code_point(std::string_view text, std::size_t length);

/// The character of a code point below 0x110000.
std::string utf8_of(unsigned point);

/// shown(), cut behind 200 bytes.
std::string printable(std::string_view text);

}  // namespace dtnn
