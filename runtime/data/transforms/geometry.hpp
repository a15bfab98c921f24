#pragma once
/// Steps that move the pixels of an image: pure functions. Pixels are channels, height, width,
/// row-major. Where pixels have labels, these move with them: a label is that of the nearest pixel,
/// 0 where there is none.

#include <cstdint>

#include "runtime/data/transforms/image_view.hpp"

namespace dtnn::runtime {

/// Mirrors every row: left and right change places.
void flip_horizontal(const ImageView& image);

/// Turns the order of the rows round: top and bottom change places.
void flip_vertical(const ImageView& image);

/// A part of an image that may reach over its edges.
struct Window {
    std::int64_t top = 0;  ///< may be negative
    std::int64_t left = 0;
    std::int64_t height = 0;
    std::int64_t width = 0;
};

/// The labels of `to`, whose shape is set: of each pixel that of the place (row, column) of `from`
/// which `place(row, column)` names. Nothing where pixels have no labels.
template <class Place>
void move_labels(const ImageView& from, const ImageView& to, const Place& place) {
    if (!from.labelled()) return;
    to.set_labelled();
    const std::int64_t height = from.height(), width = from.width();
    const std::int32_t* const labels = from.labels().data();
    std::int32_t* label = to.labels().data();
    for (std::int64_t y = 0; y < to.height(); ++y) {
        for (std::int64_t x = 0; x < to.width(); ++x) {
            const auto [row, column] = place(y, x);
            const bool inside = row >= 0 && row < height && column >= 0 && column < width;
            *label++ = inside ? labels[row * width + column] : from.fill_label();
        }
    }
}

/// `to` becomes the window of `from`, `fill` where there is no pixel.
void crop(const ImageView& from, const Window& window, float fill, const ImageView& to);

}  // namespace dtnn::runtime
