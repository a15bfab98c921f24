#pragma once
/// The transforms of Winograd's convolution F(4x4, 3x3): 16 results of a 3x3 convolution by 36
/// products instead of 144.
///
/// Formulas (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015; B, G and A
/// after Toom and Cook), with g a filter, d a tile of the source, y and dy a tile of the result and
/// its gradient, * element by element:
///   forward              y  = A^T [(G g G^T) * (B^T d B)] A
///   gradient of filters  dg = G^T [sum over tiles of (B^T d B) * (A dy A^T)] G
/// Points of interpolation: 0, +-sqrt(1/2), +-sqrt(2) and infinity, which keep the error at about
/// three times that of a sum of nine products (with +-1 and +-2 it would be seven times). A source
/// cell that is infinite or not a number makes not-a-numbers of the whole tile.
///
/// A value is one number or a vector of them. Included by files that are compiled once per
/// instruction set.

#include "kernels/cpu/simd.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

struct Winograd {
    static constexpr int kResults = 4, kPoints = 6;
    static constexpr double kSmall = 0.70710678118654752440, kLarge = 1.41421356237309504880;

    /// B^T d
    template <class V, class T = std::remove_cvref_t<decltype(V{}[0])>>
    static DTNN_INLINE void source(const V (&d)[6], V (&t)[6]) {
        constexpr T a = T(kSmall), b = T(kLarge), middle = T(2.5), two = T(2), half = T(0.5);
        const V even_small = d[4] - two * d[2], odd_small = a * (d[3] - two * d[1]);
        const V even_large = d[4] - half * d[2], odd_large = b * (d[3] - half * d[1]);
        t[0] = d[0] + d[4] - middle * d[2];
        t[1] = even_small + odd_small;
        t[2] = even_small - odd_small;
        t[3] = even_large + odd_large;
        t[4] = even_large - odd_large;
        t[5] = d[1] + d[5] - middle * d[3];
    }
    /// A^T m
    template <class V, class T = std::remove_cvref_t<decltype(V{}[0])>>
    static DTNN_INLINE void result(const V (&m)[6], V (&y)[4]) {
        constexpr T a = T(kSmall), b = T(kLarge), two = T(2), half = T(0.5);
        const V even_small = m[1] + m[2], odd_small = a * (m[1] - m[2]);
        const V even_large = m[3] + m[4], odd_large = b * (m[3] - m[4]);
        y[0] = m[0] + even_small + even_large;
        y[1] = odd_small + odd_large;
        y[2] = half * even_small + two * even_large;
        y[3] = half * odd_small + two * odd_large + m[5];
    }
    /// A y
    template <class V, class T = std::remove_cvref_t<decltype(V{}[0])>>
    static DTNN_INLINE void gradient(const V (&y)[4], V (&w)[6]) {
        constexpr T a = T(kSmall), b = T(kLarge), two = T(2), half = T(0.5);
        const V even_small = y[0] + half * y[2], odd_small = a * (y[1] + half * y[3]);
        const V even_large = y[0] + two * y[2], odd_large = b * (y[1] + two * y[3]);
        w[0] = y[0];
        w[1] = even_small + odd_small;
        w[2] = even_small - odd_small;
        w[3] = even_large + odd_large;
        w[4] = even_large - odd_large;
        w[5] = y[3];
    }
    /// G g
    template <class T, class V>
    static DTNN_INLINE void filter(const V (&g)[3], V (&u)[6]) {
        constexpr T small = T(-2.0 / 3), large = T(1.0 / 6);
        const V even_small = small * g[0] + T(-1.0 / 3) * g[2];
        const V odd_small = T(-2.0 / 3 * kSmall) * g[1];
        const V even_large = large * g[0] + T(1.0 / 3) * g[2];
        const V odd_large = T(kLarge / 6) * g[1];
        u[0] = g[0];
        u[1] = even_small + odd_small;
        u[2] = even_small - odd_small;
        u[3] = even_large + odd_large;
        u[4] = even_large - odd_large;
        u[5] = g[2];
    }
    /// G^T s
    template <class T, class V>
    static DTNN_INLINE void filter_gradient(const V (&s)[6], V (&g)[3]) {
        const V even_small = s[1] + s[2], odd_small = s[1] - s[2];
        const V even_large = s[3] + s[4], odd_large = s[3] - s[4];
        g[0] = s[0] + T(-2.0 / 3) * even_small + T(1.0 / 6) * even_large;
        g[1] = T(-2.0 / 3 * kSmall) * odd_small + T(kLarge / 6) * odd_large;
        g[2] = T(1.0 / 3) * (even_large - even_small) + s[5];
    }
};

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
