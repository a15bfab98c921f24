#pragma once
/// Images for tests, made in memory.

#include <cstdint>
#include <string>
#include <vector>

namespace dtnn::runtime {

enum class PngColours { gray, palette, rgb, gray_alpha, rgb_alpha };

/// Rows of pixels as the format has them: interleaved; 16-bit values are big-endian; a palette has
/// the colours (i, 2 i, 255 - i).
std::string png(int height, int width, PngColours colours, const std::vector<std::uint8_t>& rows,
                int depth = 8, bool interlaced = false);

/// `channels`: 1 gray, 3 colours, 4 CMYK as Adobe stores it.
std::string jpeg(int height, int width, int channels, const std::vector<std::uint8_t>& rows,
                 bool progressive = false);

/// A PNG of one colour.
std::string plain_png(int height, int width, std::uint8_t red, std::uint8_t green = 0,
                      std::uint8_t blue = 0);

}  // namespace dtnn::runtime
