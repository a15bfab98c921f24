#include "runtime/data/formats/png_writer.hpp"

#include <png.h>

#include <algorithm>
#include <array>

#include "runtime/base/run_error.hpp"

namespace dtnn::runtime {
namespace {

constexpr std::size_t kMaskColours = 256;

/// Bit by bit of the number, red, green and blue by turns, from the highest bit of each down.
std::array<std::uint8_t, kMaskColours * 3> mask_colours() {
    std::array<std::uint8_t, kMaskColours * 3> colours{};
    for (std::size_t number = 0; number < kMaskColours; ++number) {
        std::size_t rest = number;
        for (int bit = 7; bit >= 0; --bit, rest >>= 3)
            for (std::size_t channel = 0; channel < 3; ++channel)
                colours[number * 3 + channel] =
                    std::uint8_t(colours[number * 3 + channel] | (rest >> channel & 1) << bit);
    }
    return colours;
}

}  // namespace

std::string png_of_numbers(std::span<const std::uint8_t> numbers, std::int64_t height,
                           std::int64_t width) {
    static const std::array<std::uint8_t, kMaskColours* 3> colours = mask_colours();
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = png_uint_32(width);
    image.height = png_uint_32(height);
    image.format = PNG_FORMAT_RGB_COLORMAP;
    // All colours, so that a number stays what it is.
    image.colormap_entries = png_uint_32(kMaskColours);
    std::string text;
    png_alloc_size_t bytes = 0;
    // The first call says how many bytes it takes.
    for (int round = 0; round < 2; ++round) {
        if (png_image_write_to_memory(&image, round == 0 ? nullptr : text.data(), &bytes, 0,
                                      numbers.data(), 0, colours.data()) == 0)
            throw RunError(Exit::failed,
                           std::string("a mask cannot be written as PNG: ") + image.message);
        text.resize(bytes);
    }
    return text;
}

}  // namespace dtnn::runtime
