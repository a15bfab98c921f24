#include "runtime/data/transforms/resample.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace dtnn::runtime {

void Taps::set(std::int64_t extent, std::int64_t size, bool antialias) {
    const double scale = double(extent) / double(size);
    const double width = antialias ? std::max(scale, 1.0) : 1.0;  // half the triangle's
    most_ = std::int64_t(std::ceil(2 * width)) + 1;
    ranges_.resize(std::size_t(size));
    weights_.assign(std::size_t(size * most_), 0.0f);
    for (std::int64_t x = 0; x < size; ++x) {
        double centre = (double(x) + 0.5) * scale;
        // Beyond the edge's centre there is nothing to interpolate with.
        if (!antialias) centre = std::clamp(centre, 0.5, double(extent) - 0.5);
        const auto first =
            std::max(std::int64_t(std::floor(centre - width + 0.5)), std::int64_t{0});
        const auto last = std::min(std::int64_t(std::floor(centre + width + 0.5)), extent);
        float* const weights = weights_.data() + x * most_;
        double sum = 0;
        const auto weight = [&](std::int64_t i) {
            return std::max(0.0, 1 - std::abs(double(i) + 0.5 - centre) / width);
        };
        const std::int64_t count = std::min(last - first, most_);
        for (std::int64_t i = 0; i < count; ++i)
            sum += weight(first + i);
        for (std::int64_t i = 0; i < count; ++i)
            weights[i] = float(weight(first + i) / sum);
        ranges_[std::size_t(x)] = {first, count};
    }
}

void resize(const ImageView& from, const Window& window, std::int64_t height, std::int64_t width,
            bool antialias, ResizeScratch& scratch, const ImageView& to) {
    to.set_shape(from.channels(), height, width);
    move_labels(from, to, [&](std::int64_t y, std::int64_t x) {
        // The pixel that the middle of the new one lies in.
        return std::pair{window.top + (2 * y + 1) * window.height / (2 * height),
                         window.left + (2 * x + 1) * window.width / (2 * width)};
    });
    scratch.rows.set(window.height, height, antialias);
    scratch.columns.set(window.width, width, antialias);
    scratch.row.resize(std::size_t(window.width));
    float* const row = scratch.row.data();
    float* result = to.pixels().data();
    for (std::int64_t channel = 0; channel < from.channels(); ++channel) {
        const float* const plane = from.pixels().data() +
                                   (channel * from.height() + window.top) * from.width() +
                                   window.left;
        for (std::int64_t y = 0; y < height; ++y) {
            // Along the columns first: one row of the source's width at a time.
            const Taps::Tap rows = scratch.rows[y];
            std::fill_n(row, window.width, 0.0f);
            for (std::int64_t i = 0; i < rows.count; ++i) {
                const float* const source = plane + (rows.first + i) * from.width();
                const float weight = rows.weights[i];
                for (std::int64_t x = 0; x < window.width; ++x)
                    row[x] += weight * source[x];
            }
            for (std::int64_t x = 0; x < width; ++x) {
                const Taps::Tap columns = scratch.columns[x];
                float sum = 0;
                for (std::int64_t i = 0; i < columns.count; ++i)
                    sum += columns.weights[i] * row[columns.first + i];
                *result++ = sum;
            }
        }
    }
}

void rotate(const ImageView& from, double degrees, float fill, const ImageView& to) {
    to.set_shape(from.channels(), from.height(), from.width());
    const double radians = degrees * std::numbers::pi / 180;
    const auto cosine = float(std::cos(radians)), sine = float(std::sin(radians));
    const std::int64_t height = from.height(), width = from.width(), plane = height * width;
    float* const result = to.pixels().data();
    const float middle_x = float(width - 1) / 2, middle_y = float(height - 1) / 2;
    // The place of a pixel before: row and column. Rows count downwards.
    const auto before = [&](std::int64_t y, std::int64_t x) {
        const float dx = float(x) - middle_x, dy = float(y) - middle_y;
        return std::pair{sine * dx + cosine * dy + middle_y, cosine * dx - sine * dy + middle_x};
    };
    move_labels(from, to, [&](std::int64_t y, std::int64_t x) {
        const auto [row, column] = before(y, x);
        return std::pair{std::int64_t(std::floor(row + 0.5f)),
                         std::int64_t(std::floor(column + 0.5f))};
    });
    for (std::int64_t y = 0; y < height; ++y) {
        for (std::int64_t x = 0; x < width; ++x) {
            const auto [source_y, source_x] = before(y, x);
            const float floor_x = std::floor(source_x), floor_y = std::floor(source_y);
            const float share_x = source_x - floor_x, share_y = source_y - floor_y;
            const auto left = std::int64_t(floor_x), top = std::int64_t(floor_y);
            const auto pixel = [&](const float* values, std::int64_t row, std::int64_t column) {
                const bool inside = row >= 0 && row < height && column >= 0 && column < width;
                return inside ? values[row * width + column] : fill;
            };
            for (std::int64_t channel = 0; channel < from.channels(); ++channel) {
                const float* const values = from.pixels().data() + channel * plane;
                const float upper = (1 - share_x) * pixel(values, top, left) +
                                    share_x * pixel(values, top, left + 1);
                const float lower = (1 - share_x) * pixel(values, top + 1, left) +
                                    share_x * pixel(values, top + 1, left + 1);
                result[channel * plane + y * width + x] = (1 - share_y) * upper + share_y * lower;
            }
        }
    }
}

}  // namespace dtnn::runtime
