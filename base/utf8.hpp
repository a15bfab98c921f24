#pragma once
/// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing past U+10FFFF.

#include <cstddef>
#include <string>
#include <string_view>

namespace dtnn {

/// The length in bytes of the character that begins the text; 0 where none does.
std::size_t utf8_length(std::string_view text);

bool is_utf8(std::string_view bytes);

/// Text from outside, to be shown: every control character and every byte that is not UTF-8 written
/// as \xNN, cut behind 200 bytes.
std::string printable(std::string_view text);

}  // namespace dtnn
