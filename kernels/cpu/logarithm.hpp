#pragma once
/// log, log(1 + x), the inverse of tanh, exp(x) - 1 and erf lane by lane.
///
/// log(x) = e ln 2 + log(m) with m in [sqrt(1/2), sqrt(2)), and log(m) = 2 (s + s^3/3 + s^5/5 +
/// ...) for s = (m - 1) / (m + 1), |s| < 0.172: up to s^11 for float (remainder 1e-11), s^23 for
/// double (4e-20); ln 2 is added in two parts. Subnormal numbers are scaled first; 0 gives minus
/// infinity, negative numbers not-a-number, infinity itself.
///
/// log(1 + x) = log(u) + (x - (u - 1)) / u, u being the rounded sum: what rounding took off is put
/// back (Goldberg, "What every computer scientist should know about floating-point arithmetic",
/// 1991, theorem 4, by Kahan). atanh(x) = log(1 + 2x / (1 - x)) / 2.

#include "kernels/cpu/exponential.hpp"

namespace dtnn::kernels::DTNN_ISA {

template <class T>
struct LogarithmConstants;

template <>
struct LogarithmConstants<float> {
    static constexpr float kLeastNormal = 0x1p-126f, kScale = 0x1p24f;
    static constexpr int kScaleBits = 24, kTerms = 5;
    static constexpr std::int32_t kMantissa = 0x007fffff, kOne = 0x3f800000;
    /// So that the exponent changes at sqrt(1/2).
    static constexpr std::int32_t kOffset = 0x3f800000 - 0x3f3504f3;
    static constexpr int kExpTerms = 13;
    static constexpr float kExpSeries = 1.1F;
};

template <>
struct LogarithmConstants<double> {
    static constexpr double kLeastNormal = 0x1p-1022, kScale = 0x1p54;
    static constexpr int kScaleBits = 54, kTerms = 11;
    static constexpr std::int64_t kMantissa = 0x000fffffffffffff, kOne = 0x3ff0000000000000;
    static constexpr std::int64_t kOffset = 0x3ff0000000000000 - 0x3fe6a09e667f3bcd;
    static constexpr int kExpTerms = 16;
    static constexpr double kExpSeries = 0.35;
};

template <class T, int kCount>
DTNN_INLINE typename Lanes<T, kCount>::Vector logarithm(Lanes<T, kCount>,
                                                        typename Lanes<T, kCount>::Vector x) {
    using V = Lanes<T, kCount>;
    using K = LogarithmConstants<T>;
    using E = ExponentialConstants<T>;
    using Vector = typename V::Vector;
    using Ints = typename V::Ints;
    const auto small = x < V::broadcast(K::kLeastNormal);
    const Vector scaled = small ? x * V::broadcast(K::kScale) : x;
    const Ints shifted = Ints(scaled) + K::kOffset;
    const Ints exponent = (shifted >> E::kMantissaBits) - E::kBias -
                          (small ? V::broadcast_int(K::kScaleBits) : V::broadcast_int(0));
    // The mantissa's bits over an exponent of 0, moved back by the offset.
    const Vector m = Vector((shifted & K::kMantissa) + (K::kOne - K::kOffset));
    const Vector one = V::broadcast(1);
    const Vector s = (m - one) / (m + one);
    const Vector square = s * s;
    Vector series = V::broadcast(T(1) / T(2 * K::kTerms + 1));
#pragma GCC unroll 16
    for (int k = K::kTerms - 1; k >= 1; --k)
        series = series * square + V::broadcast(T(1) / T(2 * k + 1));
    const Vector twice = s + s;
    const Vector e = __builtin_convertvector(exponent, Vector);
    const Vector value = e * V::broadcast(E::kLn2High) +
                         (twice + (twice * square * series + e * V::broadcast(E::kLn2Low)));
    const Vector infinity = V::broadcast(T(__builtin_inf()));
    Vector result = x == infinity ? infinity : value;
    result = x == V::zero() ? -infinity : result;
    return x >= V::zero() ? result : V::broadcast(T(__builtin_nan("")));
}

template <class T, int kCount>
DTNN_INLINE typename Lanes<T, kCount>::Vector logarithm_of_1_plus(
    Lanes<T, kCount> lanes, typename Lanes<T, kCount>::Vector x) {
    using V = Lanes<T, kCount>;
    using Vector = typename V::Vector;
    const Vector one = V::broadcast(1), infinity = V::broadcast(T(__builtin_inf()));
    const Vector u = one + x;
    const Vector value = logarithm(lanes, u) + (x - (u - one)) / u;
    // There is nothing to put back where the sum is 0 or infinite.
    const Vector edge = u == V::zero() ? -infinity : x;
    const auto at_edge = (u == V::zero()) | (u == infinity);
    const Vector result = at_edge ? edge : value;
    // A minus zero stays one.
    return x == V::zero() ? x : result;
}

template <class T, int kCount>
DTNN_INLINE typename Lanes<T, kCount>::Vector inverse_tangent(Lanes<T, kCount> lanes,
                                                              typename Lanes<T, kCount>::Vector x) {
    using V = Lanes<T, kCount>;
    using Vector = typename V::Vector;
    const Vector one = V::broadcast(1);
    const Vector size = x < V::zero() ? -x : x;
    const Vector value =
        V::broadcast(T(0.5)) * logarithm_of_1_plus(lanes, (size + size) / (one - size));
    const Vector defined = size <= one ? value : V::broadcast(T(__builtin_nan("")));
    return x < V::zero() ? -defined : defined;
}

/// Near 0 the Taylor series without its first term, up to x^13 for float (remainder 4e-11 at 1.1;
/// beyond it the difference cancels no bit) and x^16 for double (1e-22 of x at 0.35, two bits at
/// most).
template <class T, int kCount>
DTNN_INLINE typename Lanes<T, kCount>::Vector exponential_less_1(
    Lanes<T, kCount> lanes, typename Lanes<T, kCount>::Vector x) {
    using V = Lanes<T, kCount>;
    using K = LogarithmConstants<T>;
    using Vector = typename V::Vector;
    T inverse_factorial = 1;
    T coefficients[K::kExpTerms + 1] = {1};
    for (int k = 1; k <= K::kExpTerms; ++k) {
        inverse_factorial /= T(k);
        coefficients[k] = inverse_factorial;
    }
    Vector sum = V::broadcast(coefficients[K::kExpTerms]);
#pragma GCC unroll 16
    for (int k = K::kExpTerms - 1; k >= 2; --k)
        sum = sum * x + V::broadcast(coefficients[k]);
    const Vector series = x + x * x * sum;
    const Vector size = x < V::zero() ? -x : x;
    return size < V::broadcast(K::kExpSeries) ? series : exponential(lanes, x) - V::broadcast(1);
}

/// Below 1 the Taylor series 2/sqrt(pi) sum (-1)^n x^(2n+1) / (n! (2n+1)), up to n = 10 (remainder
/// 1e-9); elsewhere 1 - t exp(-x^2 + P(t)), t = 1 / (1 + |x|/2), with the polynomial of `erfcc` in
/// "Numerical Recipes" (Press et al., 1992), relative error 1.2e-7 of what is taken from 1. For
/// float.
template <int kCount>
DTNN_INLINE typename Lanes<float, kCount>::Vector error_function(
    Lanes<float, kCount> lanes, typename Lanes<float, kCount>::Vector x) {
    using V = Lanes<float, kCount>;
    using Vector = typename V::Vector;
    static constexpr float kTail[] = {-1.26551223f, 1.00002368f, 0.37409196f,  0.09678418f,
                                      -0.18628806f, 0.27886807f, -1.13520398f, 1.48851587f,
                                      -0.82215223f, 0.17087277f};
    constexpr int kTerms = 10;
    const Vector one = V::broadcast(1), size = x < V::zero() ? -x : x;
    float coefficients[kTerms + 1];
    double factorial = 1;
    for (int n = 0; n <= kTerms; ++n) {
        if (n > 0) factorial *= -n;
        coefficients[n] = float(1.1283791670955126 / (factorial * (2 * n + 1)));
    }
    coefficients[0] = 0.1283791670955126F;  // less 1, which is added exactly
    const Vector square = x * x;
    Vector series = V::broadcast(coefficients[kTerms]);
#pragma GCC unroll 16
    for (int n = kTerms - 1; n >= 0; --n)
        series = series * square + V::broadcast(coefficients[n]);
    const Vector t = one / (one + V::broadcast(0.5f) * size);
    Vector polynomial = V::broadcast(kTail[9]);
#pragma GCC unroll 16
    for (int n = 8; n >= 0; --n)
        polynomial = polynomial * t + V::broadcast(kTail[n]);
    const Vector tail = one - t * exponential(lanes, polynomial - square);
    const Vector large = x < V::zero() ? -tail : tail;
    return size < one ? x + x * series : large;
}

}  // namespace dtnn::kernels::DTNN_ISA
