#include <cmath>

#include "kernels/reference/reference.hpp"
#include "kernels/arguments/softmax.hpp"

namespace dtnn::kernels::reference {

template <class T>
void log_softmax_reference(const SoftmaxArguments<T>& a, ThreadTeam&) {
    const ImageLayout& image = a.src_layout;
    for (std::int64_t n = 0; n < image.batch; ++n) {
        for (std::int64_t h = 0; h < image.height; ++h) {
            for (std::int64_t w = 0; w < image.width; ++w) {
                const auto x = [&](auto c) { return double(a.src[image.at(n, c, h, w)]); };
                double largest = x(0), sum = 0;
                for (std::int64_t c = 1; c < image.channels; ++c)
                    largest = x(c) > largest ? x(c) : largest;
                for (std::int64_t c = 0; c < image.channels; ++c)
                    sum += std::exp(x(c) - largest);
                const double logarithm = std::log(sum);
                for (std::int64_t c = 0; c < image.channels; ++c)
                    a.dst[a.dst_layout.at(n, c, h, w)] = T((x(c) - largest) - logarithm);
            }
        }
    }
}

template <class T>
void log_softmax_backward_reference(const SoftmaxBackwardArguments<T>& a, ThreadTeam&) {
    const ImageLayout& image = a.dst_layout;
    for (std::int64_t n = 0; n < image.batch; ++n) {
        for (std::int64_t h = 0; h < image.height; ++h) {
            for (std::int64_t w = 0; w < image.width; ++w) {
                const auto diff = [&](auto c) {
                    return double(a.diff_dst[a.diff_dst_layout.at(n, c, h, w)]);
                };
                double sum = 0;
                for (std::int64_t c = 0; c < image.channels; ++c)
                    sum += diff(c);
                for (std::int64_t c = 0; c < image.channels; ++c) {
                    const double p = std::exp(double(a.dst[image.at(n, c, h, w)]));
                    a.diff_src[a.diff_src_layout.at(n, c, h, w)] = T(diff(c) - p * sum);
                }
            }
        }
    }
}

DTNN_REFERENCE(log_softmax, SoftmaxArguments)
DTNN_REFERENCE(log_softmax_backward, SoftmaxBackwardArguments)

}  // namespace dtnn::kernels::reference
