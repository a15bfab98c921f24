#include <cmath>

#include "kernels/arguments/local_response_norm.hpp"
#include "kernels/cuda/kernel.hpp"

namespace dtnn::kernels::cuda {
namespace {

/// k + alpha / size * the sum of squares over the window of a channel; images are channels last.
template <class T>
struct ResponseWindow {
    const T* src;
    std::int64_t channels, size;
    double k, scale;

    DTNN_DEVICE double at(std::int64_t i) const {
        const std::int64_t c = i % channels, first = c - size / 2;
        const std::int64_t begin = first > 0 ? first : 0;
        const std::int64_t end = first + size < channels ? first + size : channels;
        double sum = 0;
        for (std::int64_t j = i - c + begin; j < i - c + end; ++j)
            sum += double(src[j]) * double(src[j]);
        return k + scale * sum;
    }
};

/// The one slow function: in the type of the numbers, to its last digit.
template <class T>
DTNN_DEVICE double power(double base, double exponent) {
    return double(std::pow(T(base), T(exponent)));
}

}  // namespace

DTNN_CUDA_KERNEL(local_response_norm_each, LocalResponseNormArguments) {
    const std::int64_t channels = a.src_layout.channels;
    const ResponseWindow<T> window{a.src, channels, a.size, a.k, a.alpha / double(a.size)};
    launch.each(channels * a.src_layout.pixels(), [=] DTNN_DEVICE(std::int64_t i) {
        a.dst[i] = T(double(a.src[i]) * power<T>(window.at(i), -a.beta));
    });
}

/// First what each channel gives to its neighbours, into the workspace, and what it keeps; then the
/// sums.
DTNN_CUDA_KERNEL(local_response_norm_backward_each, LocalResponseNormBackwardArguments) {
    const std::int64_t channels = a.kept_layout.channels, size = a.size;
    const std::int64_t count = channels * a.kept_layout.pixels();
    const ResponseWindow<T> window{a.kept, channels, size, a.k, a.alpha / double(size)};
    const double beta = a.beta, slope = 2 * a.alpha * a.beta / double(size);
    T* const given = reinterpret_cast<T*>(a.workspace);
    launch.each(count, [=] DTNN_DEVICE(std::int64_t i) {
        const double sum = window.at(i);
        const double own = double(a.diff_dst[i]) * power<T>(sum, -beta);
        a.diff_src[i] = T(own);
        given[i] = T(own * double(a.kept[i]) / sum);
    });
    launch.each(count, [=] DTNN_DEVICE(std::int64_t i) {
        // The windows that have this channel: of c - size / 2 <= channel < c - size / 2 + size.
        const std::int64_t channel = i % channels, last = channel + size / 2;
        const std::int64_t begin = last - size + 1 > 0 ? last - size + 1 : 0;
        const std::int64_t end = last + 1 < channels ? last + 1 : channels;
        double sum = 0;
        for (std::int64_t j = i - channel + begin; j < i - channel + end; ++j)
            sum += double(given[j]);
        a.diff_src[i] = T(double(a.diff_src[i]) - slope * double(a.kept[i]) * sum);
    });
}

}  // namespace dtnn::kernels::cuda
