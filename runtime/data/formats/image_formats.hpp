#pragma once
/// The two decoders behind image.hpp. Internal to it.

#include <cstdint>
#include <span>
#include <string>

#include "runtime/base/run_error.hpp"
#include "runtime/data/formats/exif.hpp"
#include "runtime/data/formats/image.hpp"

namespace dtnn::runtime::image {

/// The limits hold: or the error that says how not.
void check_size(std::uint64_t height, std::uint64_t width, const std::string& name,
                const ImageLimits& limits);

RunError broken(const std::string& name, const std::string& fact);

/// Fills `sample`, or, when it is null, only returns what the header says.
ImageHeader decode_jpeg(std::span<const std::uint8_t> bytes, const std::string& name,
                        const ImageLimits& limits, Sample* sample);
ImageHeader decode_png(std::span<const std::uint8_t> bytes, const std::string& name,
                       const ImageLimits& limits, Sample* sample);

/// `numbers` of a PNG whose pixels are such.
ImageHeader decode_numbers(std::span<const std::uint8_t> bytes, const std::string& name,
                           const ImageLimits& limits, Sample& sample);

/// Sets the pixels of rows that lie one behind another in sample.scratch, `stored` interleaved
/// channels of 8 bits, or 16 in the machine's order, to the wanted 1 or 3, and turns them: height
/// and width are those in the file.
void set_pixels(Sample& sample, std::int64_t height, std::int64_t width, int stored, bool wide,
                std::int64_t wanted, Orientation orientation = Orientation::upright);

}  // namespace dtnn::runtime::image
