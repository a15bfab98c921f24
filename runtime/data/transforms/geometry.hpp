#pragma once
/// Steps that move the pixels of a sample: pure functions. Pixels are channels, height, width,
/// row-major. Where pixels have labels, these move with them: a label is that of the nearest pixel,
/// 0 where there is none.

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

/// The labels of `to`, whose shape is set: of each pixel that of the place (row, column) of `from`
/// which `place(row, column)` names. Nothing where pixels have no labels.
template <class Place>
void move_labels(const Sample& from, Sample& to, const Place& place) {
    if (!from.labels_pixels) return;
    to.labels.resize(std::size_t(to.height * to.width));
    std::size_t at = 0;
    for (std::int64_t y = 0; y < to.height; ++y) {
        for (std::int64_t x = 0; x < to.width; ++x) {
            const auto [row, column] = place(y, x);
            const bool inside = row >= 0 && row < from.height && column >= 0 && column < from.width;
            to.labels[at++] =
                inside ? from.labels[std::size_t(row * from.width + column)] : from.fill_label;
        }
    }
}

/// `to` becomes the window of `from`, `fill` where there is no pixel.
void crop(const Sample& from, const Window& window, float fill, Sample& to);

}  // namespace dtnn::runtime
