#pragma once
/// Sums over a row of numbers, in double.

#include "kernels/cpu/simd.hpp"

namespace dtnn::kernels::DTNN_ISA {

/// Adds to sums[0, kSums) the terms of the elements [0, count): `terms(lanes, i, sums)` adds those
/// from i on to vectors of double. Four sets of sums hide the latency of an addition; they are
/// added in a fixed order.
template <class T, int kSums, class Terms>
DTNN_INLINE void row_sums(std::int64_t count, double (&sums)[kSums], Terms terms) {
    constexpr int kLanes = Simd<double>::kLanes, kStreams = 4;
    using D = Lanes<double, kLanes>;
    using One = Lanes<double, 1>;
    typename D::Vector total[kStreams][kSums];
    typename One::Vector rest[kSums];
    for (int sum = 0; sum < kSums; ++sum) {
        for (int stream = 0; stream < kStreams; ++stream)
            total[stream][sum] = D::zero();
        rest[sum] = One::zero();
    }
    std::int64_t i = 0;
    for (; i + kStreams * kLanes <= count; i += kStreams * kLanes) {
#pragma GCC unroll 4
        for (int stream = 0; stream < kStreams; ++stream)
            terms(Lanes<T, kLanes>{}, i + stream * kLanes, total[stream]);
    }
    for (; i + kLanes <= count; i += kLanes)
        terms(Lanes<T, kLanes>{}, i, total[0]);
    for (; i < count; ++i)
        terms(Lanes<T, 1>{}, i, rest);
    for (int sum = 0; sum < kSums; ++sum) {
        const auto all = (total[0][sum] + total[1][sum]) + (total[2][sum] + total[3][sum]);
        double value = rest[sum][0];
        for (int lane = 0; lane < kLanes; ++lane)
            value += all[lane];
        sums[sum] += value;
    }
}

}  // namespace dtnn::kernels::DTNN_ISA
