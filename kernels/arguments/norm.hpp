#pragma once
/// Normalisation within a sample: layer_norm (Ba, Kiros and Hinton, "Layer normalization", 2016)
/// and group_norm (Wu and He, "Group normalization", ECCV 2018). Over each set of L numbers that
/// are normalised together:
///
///     xhat = (x - mean) * inverse_deviation      inverse_deviation = 1 / sqrt(variance + epsilon),
///                                                biased variance
///     y    = gamma * xhat + beta
///
/// backward, with g = gamma * diff_dst:
///
///     diff_src   = inverse_deviation * (g - sum(g) / L - xhat * sum(g * xhat) / L)
///     diff_gamma = sum(diff_dst * xhat), diff_beta = sum(diff_dst) over all that share a gamma
///
/// With `uncentred` the mean is taken to be 0 and there is no beta: xhat = x / sqrt(mean of the
/// squares + epsilon) (Zhang and Sennrich, "Root mean square layer normalization", NeurIPS 2019),
/// and diff_src lacks sum(g) / L.
///
/// layer_norm: the lines along some axes (normalised_axes), with gamma and beta for each place of a
/// line, in the order in which it is stored; mean and inverse deviation are those of the lines, in
/// the order of AxisView. group_norm: the C/groups channels of a group and all pixels of a sample,
/// with [C]; mean and inverse deviation are [N,groups]. dst may be src, diff_src may be diff_dst.

#include <tuple>

#include "kernels/arguments/arguments.hpp"

namespace dtnn::kernels {

template <class T>
struct NormArguments : FromOperands {
    using FromOperands::FromOperands;
    double epsilon = o.problem.real("epsilon");
    bool centred = !o.problem.flag("uncentred");
    const T* src = o.source("src");
    const T *gamma = o.source("gamma"), *beta = o.source("beta");  ///< null: 1 and 0
    T* dst = o.result("dst");
    T *mean = o.result("mean"),
      *inverse_deviation = o.result("inverse_deviation");  ///< null: not wanted
    std::byte* workspace = o.scratch();
};

template <class T>
struct NormBackwardArguments : FromOperands {
    using FromOperands::FromOperands;
    bool centred = !o.problem.flag("uncentred");
    const T *src = o.source("src"), *diff_dst = o.source("diff_dst"), *mean = o.source("mean"),
            *inverse_deviation = o.source("inverse_deviation");
    /// Null: 1, and no diff_gamma and diff_beta. diff_beta is null where it is not centred, too.
    const T* gamma = o.source("gamma");
    T *diff_src = o.result("diff_src"), *diff_gamma = o.result("diff_gamma"),
      *diff_beta = o.result("diff_beta");
    std::byte* workspace = o.scratch();
};

template <class T>
struct LayerNormArguments : NormArguments<T> {
    AxisView src_layout, dst_layout;
    std::int64_t channels = 1;  ///< divides the extent of a line: how long ones are cut

    explicit LayerNormArguments(const Operands& operands) : NormArguments<T>(operands) {
        const AxisRange axes = normalised_axes(operands.problem);
        const TensorType& source = *operands.source("src").type();
        std::tie(src_layout, dst_layout) =
            std::tuple_cat(views_of(axes, source, *operands.result("dst").type()));
        channels = source.dims[axes.first];
    }
};

template <class T>
struct LayerNormBackwardArguments : NormBackwardArguments<T> {
    AxisView src_layout, diff_dst_layout, diff_src_layout;
    std::int64_t channels = 1;

    explicit LayerNormBackwardArguments(const Operands& operands)
        : NormBackwardArguments<T>(operands) {
        const AxisRange axes = normalised_axes(operands.problem);
        const TensorType& source = *operands.source("src").type();
        std::tie(src_layout, diff_dst_layout, diff_src_layout) =
            std::tuple_cat(views_of(axes, source, *operands.source("diff_dst").type(),
                                    *operands.result("diff_src").type()));
        channels = source.dims[axes.first];
    }
};

template <class T>
struct GroupNormArguments : NormArguments<T> {
    using NormArguments<T>::NormArguments;
    ImageLayout src_layout = this->o.source("src").by_sample(),
                dst_layout = this->o.result("dst").by_sample();
    std::int64_t groups = this->o.problem.integer("groups");
};

template <class T>
struct GroupNormBackwardArguments : NormBackwardArguments<T> {
    using NormBackwardArguments<T>::NormBackwardArguments;
    ImageLayout src_layout = this->o.source("src").by_sample(),
                diff_dst_layout = this->o.source("diff_dst").by_sample(),
                diff_src_layout = this->o.result("diff_src").by_sample();
    std::int64_t groups = this->o.problem.integer("groups");
};

}  // namespace dtnn::kernels
