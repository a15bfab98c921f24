#pragma once
/// Decoding JPEG (libjpeg-turbo) and PNG (libpng). The format is told by the content, never by the
/// name. Colour profiles (ICC, gamma) are ignored; JPEGs are turned and mirrored as their EXIF
/// says.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

/// Height times width, where nobody says how much an image may have.
inline constexpr std::int64_t kMostImagePixels = std::int64_t{1} << 24;

struct ImageLimits {
    std::int64_t channels = 3;  ///< 1 or 3
    /// Height times width, at most; larger images are refused before anything is allocated for
    /// them. What stands beside the pixels (text, colour profiles) is skipped and takes no memory.
    std::int64_t most_pixels = kMostImagePixels;
    bool from_plan = true;  ///< dataset.most_pixels says so, which a remedy names
};

/// Sets shape and pixels, value / 255, or / 65535 of 16-bit PNG. Gray becomes three equal channels;
/// colours become gray by ITU-R 601-2 luma, 0.299 R + 0.587 G + 0.114 B; palettes become colours;
/// transparency is dropped; CMYK becomes (1-C)(1-K), (1-M)(1-K), (1-Y)(1-K). Height and width are
/// those of the image as it is to be seen (exif.hpp). Anything wrong,
/// decoders' warnings and missing data included, is a RunError that names `name`, fact and remedy.
void decode_image(std::span<const std::uint8_t> bytes, const std::string& name,
                  const ImageLimits& limits, Sample& sample);

struct ImageHeader {
    std::int64_t height = 0;
    std::int64_t width = 0;
    std::int64_t channels = 0;  ///< 1: gray; 3: colours, which palettes and CMYK become too
};

/// Height, width and channels as the file's beginning says, and the same errors for what is neither
/// JPEG nor PNG, or too large. Does not see whether the rest of the file is sound.
ImageHeader read_image_header(std::span<const std::uint8_t> bytes, const std::string& name,
                              const ImageLimits& limits);

/// Makes the target the numbers of a PNG's pixels, row-major, as they are stored: of a palette
/// the index, of gray with up to 8 bits the value. Transparency is dropped. Other PNGs, and what is
/// none, are a RunError, as all that decode_image refuses.
ImageHeader decode_mask(std::span<const std::uint8_t> bytes, const std::string& name,
                        const ImageLimits& limits, Sample& sample);

/// Whether a file with these first bytes, eight or all, claims to be a JPEG or a PNG.
bool begins_as_image(std::string_view bytes);

}  // namespace dtnn::runtime
