#pragma once
/// Names that come from files, before they are shown.

#include <string>
#include <string_view>

namespace dtnn::runtime {

/// Whether the bytes are UTF-8 as RFC 3629 has it: no overlong forms, no surrogates.
bool is_utf8(std::string_view bytes);

/// The text with every control character and every byte that is not UTF-8 written as \xNN, cut at
/// 200 bytes.
std::string printable(std::string_view text);

}  // namespace dtnn::runtime
