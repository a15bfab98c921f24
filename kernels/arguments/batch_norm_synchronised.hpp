#pragma once
/// Batch normalisation over the batch of all ranks: what batch_norm.hpp does at once, cut where the
/// ranks add up their sums. Of every channel, with the m elements of a rank's own batch and r the
/// running mean, which is the same on all ranks and near the batch's, so that squares cancel
/// little:
///
///     batch_norm_sums            sum (x - r),  sum (x - r)^2,  m
///     -> all ranks' sums S, Q and M;  mean = r + S / M,  variance = Q / M - (S / M)^2
///     batch_norm_backward_sums   sum g,  sum g * xhat,  m;  diff_beta and diff_gamma are the own
///     -> all ranks' sums G, P and M
///     batch_norm_backward_apply  diff_src = gamma * inverse_deviation * (g - G / M - xhat * P / M)
///
/// `sums` has 2C+1 numbers: of all channels the first, of all channels the second, and the count.
/// They are zero where `batch_weight` is: that rank has no samples in this step, what it holds is
/// no part of the statistics, and G and P are none of its elements' either.
/// The gradient is that of the mean loss of all ranks: where backward begins, each rank's is
/// weighted by its batch's share.

#include <limits>

#include "kernels/arguments/batch_norm.hpp"

namespace dtnn::kernels {

template <class T>
struct BatchNormSumsArguments {
    ImageLayout src_layout;
    const T* src = nullptr;
    const Wide<T>*running_mean = nullptr, *batch_weight = nullptr;
    /// [3,C] as batch_norm_training has them; src is then not read. Null: to be computed.
    const double* statistics = nullptr;
    double* sums = nullptr;
    std::byte* workspace = nullptr;

    bool idle() const { return !(*batch_weight > 0); }
    double count() const { return double(src_layout.pixels()); }

    explicit BatchNormSumsArguments(const Operands& o)
        : src_layout(o.source("src").by_channel()),
          src(o.source("src")),
          running_mean(o.source("running_mean")),
          batch_weight(o.source("batch_weight")),
          statistics(o.source("statistics")),
          sums(o.result("sums")),
          workspace(o.scratch()) {}
};

template <class T>
struct BatchNormBackwardSumsArguments : BatchNormGradient<T> {
    const Wide<T>* batch_weight = nullptr;
    double* sums = nullptr;
    Wide<T>*diff_gamma = nullptr, *diff_beta = nullptr;

    bool idle() const { return !(*batch_weight > 0); }
    double count() const { return double(this->src_layout.pixels()); }

    explicit BatchNormBackwardSumsArguments(const Operands& o)
        : BatchNormGradient<T>(o),
          batch_weight(o.source("batch_weight")),
          sums(o.result("sums")),
          diff_gamma(o.result("diff_gamma")),
          diff_beta(o.result("diff_beta")) {}
};

/// diff_src and diff_residual may be diff_dst.
template <class T>
struct BatchNormBackwardApplyArguments : BatchNormGradient<T> {
    ImageLayout diff_src_layout, diff_residual_layout;
    const Wide<T>* batch_weight = nullptr;
    const double* sums = nullptr;  ///< of all ranks
    T* diff_src = nullptr;
    T* diff_residual = nullptr;  ///< null: none

    /// The divisor by which the own elements take of a sum of all ranks.
    double divisor() const {
        if (!(*batch_weight > 0)) return std::numeric_limits<double>::infinity();
        return sums[2 * this->src_layout.channels];
    }

    explicit BatchNormBackwardApplyArguments(const Operands& o)
        : BatchNormGradient<T>(o),
          diff_src_layout(o.result("diff_src").by_channel()),
          diff_residual_layout(o.result("diff_residual").by_channel()),
          batch_weight(o.source("batch_weight")),
          sums(o.source("sums")),
          diff_src(o.result("diff_src")),
          diff_residual(o.result("diff_residual")) {}
};

}  // namespace dtnn::kernels
