#pragma once
/// Batch normalisation over the batch of all ranks: what batch_norm.hpp does at once, cut where the
/// ranks add up their sums. Of every channel, with the m elements of a rank's own batch:
///
///     batch_norm_sums            mean and spread of the own elements, and m (rank_moments.hpp)
///     -> all ranks' mean, variance and M
///     batch_norm_backward_sums   sum g,  sum g * xhat,  m;  diff_beta and diff_gamma are the own
///     -> all ranks' sums G, P and M
///     batch_norm_backward_apply  diff_src = gamma * inverse_deviation * (g - G / M - xhat * P / M)
///
/// `moments` has 7C+1 numbers, `sums` 2C+1: of all channels the first, of all channels the second
/// and so on, and the count. They are zero where `batch_weight` is: that rank has no samples in
/// this step, what it holds is no part of the statistics, and G and P are none of its elements'
/// either. The gradient is that of the mean loss of all ranks: where backward begins, each rank's
/// is weighted by its batch's share.

#include <limits>

#include "kernels/arguments/batch_norm.hpp"
#include "kernels/arguments/rank_moments.hpp"

namespace dtnn::kernels {

template <class T>
struct BatchNormSumsArguments : FromOperands {
    using FromOperands::FromOperands;
    ImageLayout src_layout = o.source("src").by_channel();
    const T* src = o.source("src");
    const Wide<T>* batch_weight = o.source("batch_weight");
    /// [3,C] as batch_norm_training has them; src is then not read. Null: to be computed.
    const double* statistics = o.source("statistics");
    double* moments = o.result("moments");
    std::byte* workspace = o.scratch();

    bool idle() const { return !(*batch_weight > 0); }
    double count() const { return double(src_layout.pixels()); }
    RankMoments of_channel(std::int64_t c) const { return {moments + c, src_layout.channels}; }
    void set_count(double count) const {
        moments[RankMoments::elements(src_layout.channels) - 1] = count;
    }
};

template <class T>
struct BatchNormBackwardSumsArguments : BatchNormGradient<T> {
    using BatchNormGradient<T>::BatchNormGradient;
    const Wide<T>* batch_weight = this->o.source("batch_weight");
    double* sums = this->o.result("sums");
    Wide<T>*diff_gamma = this->o.result("diff_gamma"), *diff_beta = this->o.result("diff_beta");

    bool idle() const { return !(*batch_weight > 0); }
    double count() const { return double(this->src_layout.pixels()); }
};

/// diff_src and diff_residual may be diff_dst.
template <class T>
struct BatchNormBackwardApplyArguments : BatchNormGradient<T> {
    using BatchNormGradient<T>::BatchNormGradient;
    ImageLayout diff_src_layout = this->o.result("diff_src").by_channel(),
                diff_residual_layout = this->o.result("diff_residual").by_channel();
    const Wide<T>* batch_weight = this->o.source("batch_weight");
    const double* sums = this->o.source("sums");  ///< of all ranks
    T* diff_src = this->o.result("diff_src");
    T* diff_residual = this->o.result("diff_residual");  ///< null: none

    /// The divisor by which the own elements take of a sum of all ranks.
    double divisor() const {
        if (!(*batch_weight > 0)) return std::numeric_limits<double>::infinity();
        return sums[2 * this->src_layout.channels];
    }
};

}  // namespace dtnn::kernels
