#include "kernels/arguments/local_response_norm.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/reference/image_walk.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
namespace {

/// k + alpha / size * the sum of squares over c's window; `x` gives a channel of the pixel.
template <class Channel>
double window_sum(const LocalResponse& a, std::int64_t channels, std::int64_t c, Channel&& x) {
    const std::int64_t first = c - a.size / 2;
    const std::int64_t begin = std::max<std::int64_t>(first, 0);
    const std::int64_t end = std::min(first + a.size, channels);
    double sum = 0;
    for (std::int64_t j = begin; j < end; ++j)
        sum += x(j) * x(j);
    return a.k + a.alpha / double(a.size) * sum;
}

}  // namespace

DTNN_REFERENCE(local_response_norm, LocalResponseNormArguments) {
    const ImageLayout& image = a.src_layout;
    for_pixels(image, [&](auto n, auto h, auto w) {
        const auto x = [&](auto c) { return double(a.src[image.at(n, c, h, w)]); };
        for (std::int64_t c = 0; c < image.channels; ++c) {
            a.dst[a.dst_layout.at(n, c, h, w)] =
                T(x(c) * std::pow(window_sum(a, image.channels, c, x), -a.beta));
        }
    });
}

DTNN_REFERENCE(local_response_norm_backward, LocalResponseNormBackwardArguments) {
    const ImageLayout& image = a.kept_layout;
    for_pixels(image, [&](auto n, auto h, auto w) {
        const auto x = [&](auto c) { return double(a.kept[image.at(n, c, h, w)]); };
        const auto diff = [&](auto c) {
            return double(a.diff_dst[a.diff_dst_layout.at(n, c, h, w)]);
        };
        for (std::int64_t i = 0; i < image.channels; ++i) {
            // c's window has i: c - size / 2 <= i < c - size / 2 + size.
            const std::int64_t last = i + a.size / 2;
            const std::int64_t begin = std::max<std::int64_t>(last - a.size + 1, 0);
            const std::int64_t end = std::min(last + 1, image.channels);
            double sum = 0;
            for (std::int64_t c = begin; c < end; ++c)
                sum += diff(c) * x(c) * std::pow(window_sum(a, image.channels, c, x), -a.beta - 1);
            a.diff_src[a.diff_src_layout.at(n, i, h, w)] =
                T(diff(i) * std::pow(window_sum(a, image.channels, i, x), -a.beta) -
                  2 * a.alpha * a.beta / double(a.size) * x(i) * sum);
        }
    });
}

}  // namespace dtnn::kernels::reference
