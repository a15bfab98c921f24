#pragma once
/// The naive gradients of batch norm, of one rank and of all.

#include <array>
#include <cstdint>
#include <type_traits>

#include "kernels/arguments/batch_norm.hpp"
#include "kernels/reference/image_walk.hpp"

namespace dtnn::kernels::reference {

inline bool bit(const std::uint8_t* mask, std::int64_t i) {
    return (mask[i / 8] >> (i % 8) & 1) != 0;
}

/// The normalised element, by the statistics that backward is given.
template <class T>
double normalised(const BatchNormGradient<T>& a, std::int64_t n, std::int64_t c, std::int64_t h,
                  std::int64_t w) {
    return (double(a.src[a.src_layout.at(n, c, h, w)]) - a.mean[c]) *
           double(a.inverse_deviation[c]);
}

/// The gradient that passes relu.
template <class T>
double passed(const BatchNormGradient<T>& a, std::int64_t n, std::int64_t c, std::int64_t h,
              std::int64_t w) {
    const std::int64_t at = a.diff_dst_layout.at(n, c, h, w);
    bool passes = true;
    if (a.mask != nullptr) {
        passes = bit(a.mask, at);
    } else if (a.relu) {
        passes = normalised(a, n, c, h, w) * double(a.gamma[c]) + double(a.beta[c]) > 0;
    }
    return passes ? double(a.diff_dst[at]) : 0.0;
}

/// The gradient behind an expression.
template <class T>
double passed(const BatchNormBackwardArguments<T>& a, std::int64_t n, std::int64_t c,
              std::int64_t h, std::int64_t w) {
    const auto& plain = static_cast<const BatchNormGradient<T>&>(a);
    if (!a.written) return passed(plain, n, c, h, w);
    const double y = normalised(plain, n, c, h, w) * double(a.gamma[c]) + double(a.beta[c]);
    const double diff = double(a.diff_dst[a.diff_dst_layout.at(n, c, h, w)]);
    return evaluate(a.epilogue.expression, std::array{diff, y});
}

/// The sums of g and of g * xhat over a channel.
template <class Arguments>
void add_gradients(const Arguments& a, std::int64_t c, double& sum, double& product) {
    sum = product = 0;
    for_pixels(a.src_layout, [&](auto n, auto h, auto w) {
        const double g = passed(a, n, c, h, w);
        sum += g;
        product += g * normalised(a, n, c, h, w);
    });
}

/// diff_src = term(g, xhat) over a channel, and diff_residual where it is wanted.
template <class Arguments, class Term>
void write_gradients(const Arguments& a, std::int64_t c, Term term) {
    for_pixels(a.src_layout, [&](auto n, auto h, auto w) {
        const double g = passed(a, n, c, h, w), xhat = normalised(a, n, c, h, w);
        using T = std::remove_reference_t<decltype(*a.diff_src)>;
        if (a.diff_residual != nullptr)
            a.diff_residual[a.diff_residual_layout.at(n, c, h, w)] = T(g);
        a.diff_src[a.diff_src_layout.at(n, c, h, w)] = T(term(g, xhat));
    });
}

}  // namespace dtnn::kernels::reference
