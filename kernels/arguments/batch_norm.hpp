#pragma once
/// Batch normalisation (Ioffe and Szegedy, "Batch Normalization", ICML 2015), per channel (axis_of)
/// over all other axes, batch and pixels of an image:
///
///     xhat = (x - mean) * inverse_deviation        inverse_deviation = 1 / sqrt(variance +
///     epsilon), biased variance y    = gamma * xhat + beta [+ residual], then relu or an
///     expression over it when the epilogue says so
///
/// backward, with g = diff_dst where y > 0 (all of it without relu), M elements per channel:
///
///     diff_beta = sum g      diff_gamma = sum g * xhat      diff_residual = g
///     diff_src  = gamma * inverse_deviation * (g - diff_beta / M - xhat * diff_gamma / M)
///
/// With an expression backward's is over diff_dst and y as it was before the expression.
///
/// dst may be src or residual, diff_src and diff_residual may be diff_dst.
///
/// The mean is double in every type, and kernels subtract it before they multiply: of a channel
/// whose mean is large beside its deviation nothing is lost but what src itself has lost.

#include "kernels/arguments/arguments.hpp"
#include "kernels/arguments/elementwise.hpp"
#include "kernels/arguments/rank_moments.hpp"

namespace dtnn::kernels {

template <class T>
struct BatchNormTrainingArguments : FromOperands {
    ImageLayout src_layout = o.source("src").by_channel(),
                residual_layout = o.source("residual").by_channel(),
                dst_layout = o.result("dst").by_channel();
    double epsilon = o.problem.real("epsilon"), momentum = o.problem.real("momentum");
    bool relu = ends_in_relu(o.problem), written = has_written_epilogue(o.problem);
    ElementwiseArguments<T> epilogue;  ///< where it is written: over y, without sources
    const T* src = o.source("src");
    const Wide<T>*gamma = o.source("gamma"), *beta = o.source("beta"),
          *running_mean = o.source("running_mean"),
          *running_variance = o.source("running_variance");
    /// [3,C] sums of distances from an origin, of their squares, and the origin (conv2d.hpp); null:
    /// to be computed. Of all ranks, when `synchronised`: as rank_moments.hpp has them.
    const double* statistics = o.source("statistics");
    bool synchronised = o.problem.flag("synchronised");
    const T* residual = o.source("residual");  ///< null: none
    T* dst = o.result("dst");
    Wide<T>*inverse_deviation = o.result("inverse_deviation"),
    *new_running_mean = o.result("new_running_mean"),
    *new_running_variance = o.result("new_running_variance");
    double* mean = o.result("mean");
    std::uint8_t* mask =
        o.result("mask");  ///< bit i: dst's physical element i is positive; null: not wanted
    std::byte* workspace = o.scratch();

    /// Elements per channel that the statistics are of.
    double count() const {
        if (!synchronised || statistics == nullptr) return double(src_layout.pixels());
        const double all = statistics[RankMoments::elements(src_layout.channels) - 1];
        return all > 0 ? all : 1;
    }

    explicit BatchNormTrainingArguments(const Operands& operands) : FromOperands(operands) {
        if (written) epilogue.read_terms(o.problem);
    }
};

/// What every gradient of batch norm reads, here and in batch_norm_synchronised.hpp.
template <class T>
struct BatchNormGradient : FromOperands {
    using FromOperands::FromOperands;
    ImageLayout src_layout = o.source("src").by_channel(),
                diff_dst_layout = o.source("diff_dst").by_channel();
    bool relu = ends_in_relu(o.problem);
    const T *src = o.source("src"), *diff_dst = o.source("diff_dst");
    const Wide<T>*gamma = o.source("gamma"), *inverse_deviation = o.source("inverse_deviation");
    const double* mean = o.source("mean");
    const Wide<T>* beta = o.source("beta");  ///< relu without mask: y is computed again
    const std::uint8_t* mask =
        o.source("mask");  ///< relu with mask: bits by diff_dst's physical element
    std::byte* workspace = o.scratch();
};

template <class T>
struct BatchNormBackwardArguments : BatchNormGradient<T> {
    ImageLayout diff_src_layout = this->o.result("diff_src").by_channel(),
                diff_residual_layout = this->o.result("diff_residual").by_channel();
    T* diff_src = this->o.result("diff_src");
    Wide<T>*diff_gamma = this->o.result("diff_gamma"), *diff_beta = this->o.result("diff_beta");
    T* diff_residual = this->o.result("diff_residual");  ///< null: none
    bool written =
        has_written_epilogue(this->o.problem);  ///< beta is there, no relu, no mask, no residual
    ElementwiseArguments<T> epilogue;           ///< where it is written: over diff_dst and y

    explicit BatchNormBackwardArguments(const Operands& operands) : BatchNormGradient<T>(operands) {
        if (written) epilogue.read_terms(this->o.problem);
    }
};

template <class T>
struct BatchNormInferenceArguments : FromOperands {
    using FromOperands::FromOperands;
    ImageLayout src_layout = o.source("src").by_channel(),
                residual_layout = o.source("residual").by_channel(),
                dst_layout = o.result("dst").by_channel();
    double epsilon = o.problem.real("epsilon");
    bool relu = ends_in_relu(o.problem);
    const T* src = o.source("src");
    const Wide<T>*gamma = o.source("gamma"), *beta = o.source("beta"),
          *running_mean = o.source("running_mean"),
          *running_variance = o.source("running_variance");
    const T* residual = o.source("residual");
    T* dst = o.result("dst");
    std::byte* workspace = o.scratch();
};

/// The weights and bias of a convolution or dense layer that does the batch norm after it too:
/// weights' = weights * s, bias' = (bias - running_mean) * s + beta, s = gamma /
/// sqrt(running_variance + epsilon). `outer`, `channels`, `inner`: the weights' physical elements
/// seen as a box whose middle axis is the output channel.
template <class T>
struct FoldBatchNormArguments : FromOperands {
    std::int64_t outer = 1, channels = 0, inner = 1;
    double epsilon = o.problem.real("epsilon");
    const T *weights = o.source("weights"), *gamma = o.source("gamma"), *beta = o.source("beta"),
            *running_mean = o.source("running_mean"),
            *running_variance = o.source("running_variance");
    const T* bias = o.source("bias");  ///< null: zero
    T *dst_weights = o.result("weights"), *dst_bias = o.result("bias");
    std::byte* workspace = o.scratch();

    explicit FoldBatchNormArguments(const Operands& operands) : FromOperands(operands) {
        const TensorType& filters = *o.source("weights").type();
        const std::size_t axis = std::size_t(o.problem.integer("axis", 0));
        channels = filters.dims[axis];
        inner = strides_of(filters)[axis];
        outer = filters.elements() / (channels * inner);
    }
};

}  // namespace dtnn::kernels
