#pragma once
/// Texts as bytes, for the way between ranks: each is ended by a zero, so that no two lists of
/// texts have the same bytes. No text holds a zero.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace dtnn::runtime {

void append_text(std::vector<std::byte>& bytes, const std::string& text);

/// The texts in their order. What follows the last zero is no text.
std::vector<std::string> texts_of(std::span<const std::byte> bytes);

}  // namespace dtnn::runtime
