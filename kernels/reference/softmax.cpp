#include "kernels/arguments/softmax.hpp"

#include <cmath>

#include "kernels/reference/image_walk.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {

template <class T>
void softmax_reference(const SoftmaxArguments<T>& a, ThreadTeam&) {
    const ImageLayout& image = a.src_layout;
    for_pixels(image, [&](auto n, auto h, auto w) {
        T largest = a.src[image.at(n, 0, h, w)];
        for (std::int64_t c = 1; c < image.channels; ++c) {
            const T value = a.src[image.at(n, c, h, w)];
            if (value > largest) largest = value;
        }
        double sum = 0;
        for (std::int64_t c = 0; c < image.channels; ++c) {
            sum += std::exp(double(a.src[image.at(n, c, h, w)]) - double(largest));
        }
        for (std::int64_t c = 0; c < image.channels; ++c) {
            a.dst[a.dst_layout.at(n, c, h, w)] =
                T(std::exp(double(a.src[image.at(n, c, h, w)]) - double(largest)) / sum);
        }
    });
}

template <class T>
void softmax_backward_reference(const SoftmaxBackwardArguments<T>& a, ThreadTeam&) {
    const ImageLayout& image = a.kept_layout;
    for_pixels(image, [&](auto n, auto h, auto w) {
        const auto y = [&](auto c) { return double(a.kept[image.at(n, c, h, w)]); };
        const auto diff = [&](auto c) {
            return double(a.diff_dst[a.diff_dst_layout.at(n, c, h, w)]);
        };
        double dot = 0;
        for (std::int64_t c = 0; c < image.channels; ++c)
            dot += y(c) * diff(c);
        for (std::int64_t c = 0; c < image.channels; ++c) {
            a.diff_src[a.diff_src_layout.at(n, c, h, w)] = T(y(c) * (diff(c) - dot));
        }
    });
}

template <class T>
void log_softmax_reference(const SoftmaxArguments<T>& a, ThreadTeam&) {
    const ImageLayout& image = a.src_layout;
    for_pixels(image, [&](auto n, auto h, auto w) {
        const auto x = [&](auto c) { return double(a.src[image.at(n, c, h, w)]); };
        double largest = x(0), sum = 0;
        for (std::int64_t c = 1; c < image.channels; ++c)
            largest = x(c) > largest ? x(c) : largest;
        for (std::int64_t c = 0; c < image.channels; ++c)
            sum += std::exp(x(c) - largest);
        const double logarithm = std::log(sum);
        for (std::int64_t c = 0; c < image.channels; ++c)
            a.dst[a.dst_layout.at(n, c, h, w)] = T((x(c) - largest) - logarithm);
    });
}

template <class T>
void log_softmax_backward_reference(const SoftmaxBackwardArguments<T>& a, ThreadTeam&) {
    const ImageLayout& image = a.kept_layout;
    for_pixels(image, [&](auto n, auto h, auto w) {
        const auto diff = [&](auto c) {
            return double(a.diff_dst[a.diff_dst_layout.at(n, c, h, w)]);
        };
        double sum = 0;
        for (std::int64_t c = 0; c < image.channels; ++c)
            sum += diff(c);
        for (std::int64_t c = 0; c < image.channels; ++c) {
            const double p = std::exp(double(a.kept[image.at(n, c, h, w)]));
            a.diff_src[a.diff_src_layout.at(n, c, h, w)] = T(diff(c) - p * sum);
        }
    });
}

DTNN_REFERENCE(softmax, SoftmaxArguments)
DTNN_REFERENCE(softmax_backward, SoftmaxBackwardArguments)
DTNN_REFERENCE(log_softmax, SoftmaxArguments)
DTNN_REFERENCE(log_softmax_backward, SoftmaxBackwardArguments)

}  // namespace dtnn::kernels::reference
