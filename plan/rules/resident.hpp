#pragma once
/// The memory of a dataset's source: the compiler books it, the runtime checks that the plan has
/// booked enough, both by this formula.

#include <cstdint>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// Samples, or their compressed files and their index: exactly for datasets of a known form; for
/// those of the user's own files at most what so many samples of such a shape may take, computed in
/// `numbers`, and never more than `cache`, which files of validation have once more.
std::int64_t resident_bytes(const Dataset& dataset, DType numbers);

/// The part of it that is what a table's columns become, and the parts of that.
std::int64_t encoding_bytes(const std::vector<FeatureColumn>& columns);
std::int64_t kept_text_bytes(std::string_view text);

/// Of a series: where the samples of one part of a group begin.
inline constexpr std::int64_t kSeriesStretchBytes = 2 * std::int64_t{sizeof(std::int64_t)};

/// Whether that is just what it takes, not a limit.
bool resident_is_exact(const Dataset& dataset);

/// Height times width of the largest image that is decoded: of every image where all have one size,
/// else `most_pixels`. Zero where nothing is decoded.
std::int64_t most_pixels(const Dataset& dataset);

/// Bytes of the largest file that an image of so many pixels may have: four channels of 16 bits
/// that do not compress, and profiles, thumbnails and the like.
std::int64_t most_image_file(std::int64_t pixels);

/// The memory of one worker besides, for the largest image: its file, what the decoder writes, and
/// its channels as floats.
std::int64_t decoding_bytes(const Dataset& dataset);

/// Both, with as many workers as the plan has: Memory::samples.
std::int64_t sample_bytes(const Plan& plan);

/// The certain part of it: samples of a known form.
std::int64_t certain_sample_bytes(const Plan& plan);

}  // namespace dtnn::plan
