#include "kernels/arguments/softmax.hpp"

#include <cmath>

#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {

template <class T>
void softmax_reference(const SoftmaxArguments<T>& a, ThreadTeam&) {
    const ImageLayout& image = a.src_layout;
    for (std::int64_t n = 0; n < image.batch; ++n) {
        for (std::int64_t h = 0; h < image.height; ++h) {
            for (std::int64_t w = 0; w < image.width; ++w) {
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
            }
        }
    }
}

template <class T>
void softmax_backward_reference(const SoftmaxBackwardArguments<T>& a, ThreadTeam&) {
    const ImageLayout& image = a.dst_layout;
    for (std::int64_t n = 0; n < image.batch; ++n) {
        for (std::int64_t h = 0; h < image.height; ++h) {
            for (std::int64_t w = 0; w < image.width; ++w) {
                const auto y = [&](auto c) { return double(a.dst[image.at(n, c, h, w)]); };
                const auto diff = [&](auto c) {
                    return double(a.diff_dst[a.diff_dst_layout.at(n, c, h, w)]);
                };
                double dot = 0;
                for (std::int64_t c = 0; c < image.channels; ++c)
                    dot += y(c) * diff(c);
                for (std::int64_t c = 0; c < image.channels; ++c) {
                    a.diff_src[a.diff_src_layout.at(n, c, h, w)] = T(y(c) * (diff(c) - dot));
                }
            }
        }
    }
}

DTNN_REFERENCE(softmax, SoftmaxArguments)
DTNN_REFERENCE(softmax_backward, SoftmaxBackwardArguments)

}  // namespace dtnn::kernels::reference
