#pragma once
/// What moves the pixels of a sample: pure functions. Pixels are channels, height, width,
/// row-major.

#include <cstdint>

#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

/// Mirrors every row: left and right change places.
void flip_horizontal(Sample& sample);

/// Turns the order of the rows round: top and bottom change places.
void flip_vertical(Sample& sample);

/// A part of a sample that may reach over its edges.
struct Window {
    std::int64_t top = 0;  ///< may be negative
    std::int64_t left = 0;
    std::int64_t height = 0;
    std::int64_t width = 0;
};

/// `to` becomes the window of `from`, `fill` where there is no pixel. Labels stay with `from`.
void crop(const Sample& from, const Window& window, float fill, Sample& to);

}  // namespace dtnn::runtime
