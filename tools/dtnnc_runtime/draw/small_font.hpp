#pragma once
/// Letters for pictures that are made of dots: ASCII, five columns of eight dots each.

#include <array>
#include <cstdint>

namespace dtnn::tools {

inline constexpr int kLetterColumns = 5, kLetterRows = 8;
/// From one letter to the next.
inline constexpr int kLetterWidth = 6;

/// The columns of a letter from the left; bit 0 is the dot on top. What is no printable ASCII is
/// drawn as a question mark.
const std::array<std::uint8_t, kLetterColumns>& letter(char c);

}  // namespace dtnn::tools
