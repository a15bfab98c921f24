#include "kernels/arguments/local_response_norm.hpp"

#include <cmath>

#include "kernels/cpu/simd.hpp"
#include "kernels/thread_team.hpp"
#include "kernels/workspace/norm.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

std::int64_t pixels_per_thread(std::int64_t channels) {
    return channels >= 1024 ? 1 : 1024 / channels;
}

/// powers[c] = sums[c]^-beta, which may be the same numbers. The exponents in use are roots.
template <class T>
DTNN_INLINE void inverse_powers(const T* sums, T* powers, std::int64_t count, double beta) {
    if (beta == 0.75) {
#pragma GCC ivdep
        for (std::int64_t c = 0; c < count; ++c) {
            const T root = std::sqrt(sums[c]);
            powers[c] = T(1) / (root * std::sqrt(root));
        }
    } else if (beta == 0.5) {
#pragma GCC ivdep
        for (std::int64_t c = 0; c < count; ++c)
            powers[c] = T(1) / std::sqrt(sums[c]);
    } else if (beta == 1) {
#pragma GCC ivdep
        for (std::int64_t c = 0; c < count; ++c)
            powers[c] = T(1) / sums[c];
    } else {
        for (std::int64_t c = 0; c < count; ++c)
            powers[c] = T(std::pow(double(sums[c]), -beta));
    }
}

/// A thread's numbers: a row with zeros before and behind the channels, so that every window is
/// whole, and a row of results.
template <class T>
struct ResponseScratch {
    std::int64_t channels, size;
    T *padded, *results;

    ResponseScratch(std::byte* workspace, std::int64_t width, std::int64_t window,
                    std::int64_t member)
        : channels(width),
          size(window),
          padded(reinterpret_cast<T*>(workspace) +
                 member * local_response_elements(channels, size)),
          results(padded + channels + size) {}

    /// Zeros around [before, before + channels).
    void clear_edges(std::int64_t before) const {
        for (std::int64_t i = 0; i < before; ++i)
            padded[i] = 0;
        for (std::int64_t i = before + channels; i < channels + size; ++i)
            padded[i] = 0;
    }
    /// The sum of `size` numbers from c on.
    template <class V>
    DTNN_INLINE typename V::Vector window(V, std::int64_t c) const {
        auto sum = V::zero();
        for (std::int64_t j = 0; j < size; ++j)
            sum += V::load(padded + c + j);
        return sum;
    }
};

/// scratch.results[c] = k + weight * sum of squares over c's window.
template <class T>
DTNN_INLINE void window_sums(const ResponseScratch<T>& scratch, const T* x, double k,
                             double weight) {
    const std::int64_t before = scratch.size / 2;
    scratch.clear_edges(before);
    T* const squares = scratch.padded + before;
    for_channels<T>(scratch.channels, [&](auto lanes, std::int64_t c) {
        using V = decltype(lanes);
        V::store(squares + c, V::load(x + c) * V::load(x + c));
    });
    T* const results = scratch.results;
    for_channels<T>(scratch.channels, [&](auto lanes, std::int64_t c) {
        using V = decltype(lanes);
        V::store(results + c,
                 V::broadcast(T(k)) + V::broadcast(T(weight)) * scratch.window(lanes, c));
    });
}

}  // namespace

DTNN_KERNEL(local_response_norm_pixels, LocalResponseNormArguments) {
    const std::int64_t channels = a.src_layout.channels;
    const double weight = a.alpha / double(a.size);
    team.for_pieces(a.src_layout.pixels(), pixels_per_thread(channels),
                    [&](auto begin, auto end, int member) {
                        const ResponseScratch<T> scratch(a.workspace, channels, a.size, member);
                        for (std::int64_t pixel = begin; pixel < end; ++pixel) {
                            const T* const x = a.src + pixel * channels;
                            T* const y = a.dst + pixel * channels;
                            window_sums(scratch, x, a.k, weight);
                            T* const powers = scratch.results;
                            inverse_powers(powers, powers, channels, a.beta);
#pragma GCC ivdep
                            for (std::int64_t c = 0; c < channels; ++c)
                                y[c] = x[c] * powers[c];
                        }
                    });
}

namespace {

template <class T>
DTNN_INLINE void backward_pixel(const LocalResponseNormBackwardArguments<T>& a,
                                const ResponseScratch<T>& scratch, std::int64_t pixel) {
    const std::int64_t channels = scratch.channels;
    const double weight = a.alpha / double(a.size);
    const T* const x = a.kept + pixel * channels;
    const T* const diff = a.diff_dst + pixel * channels;
    T* const result = a.diff_src + pixel * channels;
    window_sums(scratch, x, a.k, weight);
    // The squares are done with: in their place diff * x * s^(-beta - 1). A channel lies in the
    // windows of those from size - 1 - floor(size / 2) before it on.
    const std::int64_t before = a.size - 1 - a.size / 2;
    T* const products = scratch.padded + before;
    T* const powers = scratch.results;
#pragma GCC ivdep
    for (std::int64_t c = 0; c < channels; ++c)
        products[c] = diff[c] * x[c] / powers[c];
    inverse_powers(powers, powers, channels, a.beta);
#pragma GCC ivdep
    for (std::int64_t c = 0; c < channels; ++c)
        products[c] *= powers[c];
    scratch.clear_edges(before);
    const T slope = T(-2 * weight * a.beta);
    for_channels<T>(channels, [&](auto lanes, std::int64_t c) {
        using V = decltype(lanes);
        V::store(result + c, V::load(diff + c) * V::load(powers + c) +
                                 V::broadcast(slope) * V::load(x + c) * scratch.window(lanes, c));
    });
}

}  // namespace

DTNN_KERNEL(local_response_norm_backward_pixels, LocalResponseNormBackwardArguments) {
    const std::int64_t channels = a.kept_layout.channels;
    team.for_pieces(a.kept_layout.pixels(), pixels_per_thread(channels),
                    [&](auto begin, auto end, int member) {
                        const ResponseScratch<T> scratch(a.workspace, channels, a.size, member);
                        for (std::int64_t pixel = begin; pixel < end; ++pixel)
                            backward_pixel(a, scratch, pixel);
                    });
}

}  // namespace dtnn::kernels::DTNN_ISA
