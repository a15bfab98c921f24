#pragma once
/// The softmax of one row, for softmax itself and for the cross entropy that contains it.

#include <cmath>

#include "kernels/cpu/simd.hpp"

namespace dtnn::kernels::DTNN_ISA {

/// What the logarithm of the sum is made of: log(sum exp(x)) = largest + log(sum).
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
    double sum = 0;
    for (std::int64_t c = 0; c < count; ++c) {
        const T e = std::exp(x[c] - largest);
        sum += double(e);
        y[c] = e;
    }
    const double scale = 1 / sum;
#pragma GCC ivdep
    for (std::int64_t c = 0; c < count; ++c)
        y[c] = T(double(y[c]) * scale);
    return {double(largest), sum};
}

}  // namespace dtnn::kernels::DTNN_ISA
