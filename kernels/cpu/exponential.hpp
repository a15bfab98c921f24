#pragma once
/// exp, sigmoid and tanh lane by lane: the C library's work on one number at a time.
///
/// exp(x) = 2^n exp(r) with n = round(x / ln 2), |r| <= ln 2 / 2, and the Taylor series of exp(r):
/// up to r^7 for float (remainder 5e-9), r^13 for double (4e-18). ln 2 is taken off in two parts,
/// as Cody and Waite do ("Software manual for the elementary functions", 1980). In float exp is
/// within 1 unit in the last place, tanh within 2, sigmoid within 2.5
/// (tests/codegen/vector_functions_test.cpp); not-a-number stays one, large arguments give
/// infinity, small ones zero.

#include "kernels/cpu/simd.hpp"

namespace dtnn::kernels::DTNN_ISA {

template <class T>
struct ExponentialConstants;

template <>
struct ExponentialConstants<float> {
    static constexpr float kLeast = -104, kLargest = 89;
    /// Adding it rounds to a whole number, held in the low bits.
    static constexpr float kRounder = 0x1.8p23f;
    static constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
    static constexpr int kTerms = 7, kMantissaBits = 23, kBias = 127;
};

template <>
struct ExponentialConstants<double> {
    static constexpr double kLeast = -746, kLargest = 710;
    static constexpr double kRounder = 0x1.8p52;
    static constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;
    static constexpr int kTerms = 13, kMantissaBits = 52, kBias = 1023;
};

/// sum * 2^n with one rounding, also where that is subnormal or infinite. `shifted` is n +
/// kRounder.
template <class T, int kCount>
DTNN_INLINE typename Lanes<T, kCount>::Vector times_power_of_2(
    Lanes<T, kCount>, typename Lanes<T, kCount>::Vector sum,
    typename Lanes<T, kCount>::Vector shifted) {
    using V = Lanes<T, kCount>;
    using K = ExponentialConstants<T>;
    using Vector = typename V::Vector;
    using Ints = typename V::Ints;
#if defined(__AVX512F__)
    if constexpr (sizeof(Vector) == kVectorBytes) {
        // One instruction for the same numbers; all lanes are asked for, because GCC warns of the
        // form without a mask.
        const Vector n = shifted - V::broadcast(K::kRounder);
        if constexpr (sizeof(T) == sizeof(float)) {
            return _mm512_maskz_scalef_ps(0xFFFF, sum, n);
        } else {
            return _mm512_maskz_scalef_pd(0xFF, sum, n);
        }
    }
#endif
    // In two halves: each is a normal number, their product may overflow or vanish as it should.
    const Ints n = Ints(shifted) - Ints(V::broadcast(K::kRounder));
    const Ints half = n >> 1, rest = n - half;
    const Vector scale1 = Vector((half + K::kBias) << K::kMantissaBits);
    const Vector scale2 = Vector((rest + K::kBias) << K::kMantissaBits);
    return sum * scale1 * scale2;
}

template <class T, int kCount>
DTNN_INLINE typename Lanes<T, kCount>::Vector exponential(Lanes<T, kCount> lanes,
                                                          typename Lanes<T, kCount>::Vector x) {
    using V = Lanes<T, kCount>;
    using K = ExponentialConstants<T>;
    using Vector = typename V::Vector;
    const Vector least = V::broadcast(K::kLeast), largest = V::broadcast(K::kLargest);
    // A number that is none (NaN) stays one.
    Vector inside = least > x ? least : x;
    inside = largest < inside ? largest : inside;
    const Vector rounder = V::broadcast(K::kRounder);
    const Vector shifted = inside * V::broadcast(T(0x1.71547652b82fep0)) + rounder;
    const Vector whole = shifted - rounder;
    const Vector r =
        (inside - whole * V::broadcast(K::kLn2High)) - whole * V::broadcast(K::kLn2Low);
    T inverse_factorial = 1;
    T coefficients[K::kTerms + 1] = {1};
    for (int k = 1; k <= K::kTerms; ++k) {
        inverse_factorial /= T(k);
        coefficients[k] = inverse_factorial;
    }
    Vector sum = V::broadcast(coefficients[K::kTerms]);
#pragma GCC unroll 16
    for (int k = K::kTerms - 1; k >= 2; --k)
        sum = sum * r + V::broadcast(coefficients[k]);
    // The largest terms last: each rounding before them counts less.
    sum = V::broadcast(1) + (r + r * r * sum);
    return times_power_of_2(lanes, sum, shifted);
}

/// 0 where exp(-x) is infinite, at which the exact value is no normal number any more.
template <class T, int kCount>
DTNN_INLINE typename Lanes<T, kCount>::Vector sigmoid(Lanes<T, kCount> lanes,
                                                      typename Lanes<T, kCount>::Vector x) {
    const auto one = Lanes<T, kCount>::broadcast(1);
    return one / (one + exponential(lanes, -x));
}

/// 1 - 2 / (e^2|x| + 1) with the sign of x; near zero, where the difference cancels, the Taylor
/// series up to x^19. For float: there the remainder at 0.55 is 1e-9.
template <int kCount>
DTNN_INLINE typename Lanes<float, kCount>::Vector hyperbolic_tangent(
    Lanes<float, kCount> lanes, typename Lanes<float, kCount>::Vector x) {
    using V = Lanes<float, kCount>;
    static constexpr float kSeries[] = {-1.0F / 3,
                                        2.0F / 15,
                                        -17.0F / 315,
                                        62.0F / 2835,
                                        -1382.0F / 155925,
                                        21844.0F / 6081075,
                                        -929569.0F / 638512875,
                                        6404582.0F / 10854718875.0F,
                                        -443861162.0F / 1856156927625.0F};
    const auto one = V::broadcast(1);
    const auto size = x < V::zero() ? -x : x;
    const auto large = one - V::broadcast(2) / (exponential(lanes, 2 * size) + one);
    const auto square = x * x;
    auto series = V::broadcast(kSeries[8]);
#pragma GCC unroll 16
    for (int k = 7; k >= 0; --k)
        series = series * square + V::broadcast(kSeries[k]);
    return size < V::broadcast(0.55F) ? x + x * square * series : (x < V::zero() ? -large : large);
}

}  // namespace dtnn::kernels::DTNN_ISA
