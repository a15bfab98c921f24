#pragma once
/// The softmax of one row, for softmax itself and for the cross entropy that contains it.

#include "kernels/cpu/exponential.hpp"
#include "kernels/cpu/simd.hpp"

namespace dtnn::kernels::DTNN_ISA {

/// The parts of the logarithm of the sum: log(sum exp(x)) = largest + log(sum).
struct SoftmaxSums {
    double largest, sum;
};

/// Writes the softmax of x[0, count) to y, which may be x. The sum is of the exponentials relative
/// to the largest.
template <class T>
DTNN_INLINE SoftmaxSums softmax_row(const T* x, T* y, std::int64_t count) {
    T largest = x[0];
    for (std::int64_t c = 1; c < count; ++c)
        largest = x[c] > largest ? x[c] : largest;
    for_channels<T>(count, [&](auto lanes, std::int64_t c) {
        using V = decltype(lanes);
        V::store(y + c, exponential(lanes, V::load(x + c) - V::broadcast(largest)));
    });
    double sum = 0;
    for (std::int64_t c = 0; c < count; ++c)
        sum += double(y[c]);
    const double scale = 1 / sum;
#pragma GCC ivdep
    for (std::int64_t c = 0; c < count; ++c)
        y[c] = T(double(y[c]) * scale);
    return {double(largest), sum};
}

}  // namespace dtnn::kernels::DTNN_ISA
