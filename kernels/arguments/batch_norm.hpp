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
#include "kernels/layout.hpp"

namespace dtnn::kernels {

class OperandReader;

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

    static BatchNormTrainingArguments bind(const Problem&, Sources, Destinations, Workspace);
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
    /// Sources: src, diff_dst, gamma, mean, inverse_deviation; own; then what relu needs.
    void bind_sources(OperandReader&);
    void bind_relu(const Problem&, OperandReader&);
};

template <class T>
struct BatchNormBackwardArguments : BatchNormGradient<T> {
    ImageLayout diff_src_layout, diff_residual_layout;
    T* diff_src = nullptr;
    Wide<T>*diff_gamma = nullptr, *diff_beta = nullptr;
    T* diff_residual = nullptr;        ///< null: none
    bool written = false;              ///< beta is there, no relu, no mask, no residual
    ElementwiseArguments<T> epilogue;  ///< where it is written: over diff_dst and y

    static BatchNormBackwardArguments bind(const Problem&, Sources, Destinations, Workspace);
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

    static BatchNormInferenceArguments bind(const Problem&, Sources, Destinations, Workspace);
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

    static FoldBatchNormArguments bind(const Problem&, Sources, Destinations, Workspace);
};

}  // namespace dtnn::kernels
