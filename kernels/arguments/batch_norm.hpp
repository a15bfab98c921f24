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

namespace dtnn::kernels {

template <class T>
struct BatchNormTrainingArguments {
    ImageLayout src_layout, residual_layout, dst_layout;
    double epsilon = 0, momentum = 0;
    bool relu = false, written = false;
    ElementwiseArguments<T> epilogue;  ///< where it is written: over y, without sources
    const T* src = nullptr;
    const Wide<T>*gamma = nullptr, *beta = nullptr, *running_mean = nullptr,
          *running_variance = nullptr;
    /// [3,C] sums of distances from an origin, of their squares, and the origin (conv2d.hpp); null:
    /// to be computed. Of all ranks, when `synchronised`: as batch_norm_synchronised.hpp has them.
    const double* statistics = nullptr;
    bool synchronised = false;
    const T* residual = nullptr;  ///< null: none
    T* dst = nullptr;
    Wide<T>*inverse_deviation = nullptr, *new_running_mean = nullptr,
    *new_running_variance = nullptr;
    double* mean = nullptr;
    std::uint8_t* mask =
        nullptr;  ///< bit i: dst's physical element i is positive; null: not wanted
    std::byte* workspace = nullptr;

    /// Elements per channel that the statistics are of.
    double count() const {
        if (!synchronised || statistics == nullptr) return double(src_layout.pixels());
        const double all = statistics[2 * src_layout.channels];
        return all > 0 ? all : 1;
    }

    explicit BatchNormTrainingArguments(const Operands& o)
        : src_layout(o.source("src").by_channel()),
          residual_layout(o.source("residual").by_channel()),
          dst_layout(o.result("dst").by_channel()),
          epsilon(o.problem.real("epsilon")),
          momentum(o.problem.real("momentum")),
          relu(ends_in_relu(o.problem)),
          written(has_written_epilogue(o.problem)),
          src(o.source("src")),
          gamma(o.source("gamma")),
          beta(o.source("beta")),
          running_mean(o.source("running_mean")),
          running_variance(o.source("running_variance")),
          statistics(o.source("statistics")),
          synchronised(o.problem.flag("synchronised")),
          residual(o.source("residual")),
          dst(o.result("dst")),
          inverse_deviation(o.result("inverse_deviation")),
          new_running_mean(o.result("new_running_mean")),
          new_running_variance(o.result("new_running_variance")),
          mean(o.result("mean")),
          mask(o.result("mask")),
          workspace(o.scratch()) {
        if (written) epilogue.read_terms(o.problem);
    }
};

/// What every gradient of batch norm reads, here and in batch_norm_synchronised.hpp.
template <class T>
struct BatchNormGradient {
    ImageLayout src_layout, diff_dst_layout;
    bool relu = false;
    const T *src = nullptr, *diff_dst = nullptr;
    const Wide<T>*gamma = nullptr, *inverse_deviation = nullptr;
    const double* mean = nullptr;
    const Wide<T>* beta = nullptr;       ///< relu without mask: y is computed again
    const std::uint8_t* mask = nullptr;  ///< relu with mask: bits by diff_dst's physical element
    std::byte* workspace = nullptr;

  protected:
    explicit BatchNormGradient(const Operands& o)
        : src_layout(o.source("src").by_channel()),
          diff_dst_layout(o.source("diff_dst").by_channel()),
          relu(ends_in_relu(o.problem)),
          src(o.source("src")),
          diff_dst(o.source("diff_dst")),
          gamma(o.source("gamma")),
          inverse_deviation(o.source("inverse_deviation")),
          mean(o.source("mean")),
          beta(o.source("beta")),
          mask(o.source("mask")),
          workspace(o.scratch()) {}
};

template <class T>
struct BatchNormBackwardArguments : BatchNormGradient<T> {
    ImageLayout diff_src_layout, diff_residual_layout;
    T* diff_src = nullptr;
    Wide<T>*diff_gamma = nullptr, *diff_beta = nullptr;
    T* diff_residual = nullptr;        ///< null: none
    bool written = false;              ///< beta is there, no relu, no mask, no residual
    ElementwiseArguments<T> epilogue;  ///< where it is written: over diff_dst and y

    explicit BatchNormBackwardArguments(const Operands& o)
        : BatchNormGradient<T>(o),
          diff_src_layout(o.result("diff_src").by_channel()),
          diff_residual_layout(o.result("diff_residual").by_channel()),
          diff_src(o.result("diff_src")),
          diff_gamma(o.result("diff_gamma")),
          diff_beta(o.result("diff_beta")),
          diff_residual(o.result("diff_residual")),
          written(has_written_epilogue(o.problem)) {
        if (written) epilogue.read_terms(o.problem);
    }
};

template <class T>
struct BatchNormInferenceArguments {
    ImageLayout src_layout, residual_layout, dst_layout;
    double epsilon = 0;
    bool relu = false;
    const T* src = nullptr;
    const Wide<T>*gamma = nullptr, *beta = nullptr, *running_mean = nullptr,
          *running_variance = nullptr;
    const T* residual = nullptr;
    T* dst = nullptr;
    std::byte* workspace = nullptr;

    explicit BatchNormInferenceArguments(const Operands& o)
        : src_layout(o.source("src").by_channel()),
          residual_layout(o.source("residual").by_channel()),
          dst_layout(o.result("dst").by_channel()),
          epsilon(o.problem.real("epsilon")),
          relu(ends_in_relu(o.problem)),
          src(o.source("src")),
          gamma(o.source("gamma")),
          beta(o.source("beta")),
          running_mean(o.source("running_mean")),
          running_variance(o.source("running_variance")),
          residual(o.source("residual")),
          dst(o.result("dst")),
          workspace(o.scratch()) {}
};

/// The weights and bias of a convolution or dense layer that does the batch norm after it too:
/// weights' = weights * s, bias' = (bias - running_mean) * s + beta, s = gamma /
/// sqrt(running_variance + epsilon). `outer`, `channels`, `inner`: the weights' physical elements
/// seen as a box whose middle axis is the output channel.
template <class T>
struct FoldBatchNormArguments {
    std::int64_t outer = 1, channels = 0, inner = 1;
    double epsilon = 0;
    const T *weights = nullptr, *gamma = nullptr, *beta = nullptr, *running_mean = nullptr,
            *running_variance = nullptr;
    const T* bias = nullptr;  ///< null: zero
    T *dst_weights = nullptr, *dst_bias = nullptr;
    std::byte* workspace = nullptr;

    explicit FoldBatchNormArguments(const Operands& o)
        : epsilon(o.problem.real("epsilon")),
          weights(o.source("weights")),
          gamma(o.source("gamma")),
          beta(o.source("beta")),
          running_mean(o.source("running_mean")),
          running_variance(o.source("running_variance")),
          bias(o.source("bias")),
          dst_weights(o.result("weights")),
          dst_bias(o.result("bias")),
          workspace(o.scratch()) {
        const TensorType& filters = *o.source("weights").type();
        const std::size_t axis = std::size_t(o.problem.integer("axis", 0));
        channels = filters.dims[axis];
        inner = strides_of(filters)[axis];
        outer = filters.elements() / (channels * inner);
    }
};

}  // namespace dtnn::kernels
