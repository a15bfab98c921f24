#include "runtime/data/transforms/geometry.hpp"

#include <algorithm>
#include <utility>

namespace dtnn::runtime {

void flip_horizontal(const ImageView& image) {
    float* row = image.pixels().data();
    for (std::int64_t i = 0; i < image.channels() * image.height(); ++i, row += image.width())
        std::reverse(row, row + image.width());
    if (!image.labelled()) return;
    std::int32_t* labels = image.labels().data();
    for (std::int64_t y = 0; y < image.height(); ++y, labels += image.width())
        std::reverse(labels, labels + image.width());
}

namespace {

template <class Value>
void turn_rows(Value* plane, std::int64_t height, std::int64_t width) {
    for (std::int64_t top = 0, bottom = height - 1; top < bottom; ++top, --bottom)
        std::swap_ranges(plane + top * width, plane + (top + 1) * width, plane + bottom * width);
}

}  // namespace

void flip_vertical(const ImageView& image) {
    const std::int64_t height = image.height(), width = image.width();
    for (std::int64_t channel = 0; channel < image.channels(); ++channel)
        turn_rows(image.pixels().data() + channel * height * width, height, width);
    if (image.labelled()) turn_rows(image.labels().data(), height, width);
}

void crop(const ImageView& from, const Window& window, float fill, const ImageView& to) {
    to.set_shape(from.channels(), window.height, window.width);
    // The columns of the window that have pixels: begin <= x < end.
    const std::int64_t begin = std::clamp<std::int64_t>(-window.left, 0, window.width);
    const std::int64_t end = std::clamp(from.width() - window.left, begin, window.width);
    move_labels(from, to, [&](std::int64_t y, std::int64_t x) {
        return std::pair{y + window.top, x + window.left};
    });
    float* row = to.pixels().data();
    for (std::int64_t channel = 0; channel < from.channels(); ++channel) {
        const float* const plane = from.pixels().data() + channel * from.height() * from.width();
        for (std::int64_t y = window.top; y < window.top + window.height; ++y) {
            if (y < 0 || y >= from.height() || begin == end) {
                std::fill_n(row, window.width, fill);
            } else {
                const float* const source = plane + y * from.width() + window.left;
                std::fill_n(row, begin, fill);
                std::copy(source + begin, source + end, row + begin);
                std::fill(row + end, row + window.width, fill);
            }
            row += window.width;
        }
    }
}

}  // namespace dtnn::runtime
