#pragma once
/// Two-dimensional convolutions: their shape and the arguments of their three operators.
///
/// Layouts: images are stored N,H,W,C; weights KH,KW,C/groups,F. All kernels of an operator compute
/// the same formula:
///   dst[n,oh,ow,f] = epilogue(bias[f] + residual[n,oh,ow,f] + sum over kh,kw,c of
///                    src[n, oh*sh - top + kh*dh, ow*sw - left + kw*dw, g*C/groups + c] *
///                    weights[kh,kw,c,f])
/// where g is the group of filter f and cells outside the source count as zero. The epilogue is
/// relu, an expression over the number (of conv2d alone), or nothing. `statistics` (f64 [3,F])
/// receives per filter the sum of dst's distances from an origin, the sum of their squares, and the
/// origin: the bias, or 0, so that a large bias does not cancel the variance away.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/arguments/arguments.hpp"
#include "kernels/arguments/elementwise.hpp"

namespace dtnn::kernels {

/// All sizes in elements. `channels` and `filters` count all groups.
struct ConvShape {
    std::int64_t batch = 0, groups = 1;
    std::int64_t channels = 0, height = 0, width = 0;
    std::int64_t filters = 0, out_height = 0, out_width = 0;
    std::int64_t kernel_height = 0, kernel_width = 0;
    std::int64_t stride_height = 1, stride_width = 1;
    std::int64_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
    std::int64_t dilation_height = 1, dilation_width = 1;

    std::int64_t group_channels() const { return channels / groups; }
    std::int64_t group_filters() const { return filters / groups; }
    std::int64_t taps() const { return kernel_height * kernel_width; }
    std::int64_t pixels() const { return batch * height * width; }
    std::int64_t out_pixels() const { return batch * out_height * out_width; }
    std::int64_t weight_elements() const { return taps() * group_channels() * filters; }
};

/// The tensors of a convolution or of a dense layer, whichever of them the operator makes.
struct ConvOperands {
    const TensorType* image = nullptr;    ///< src or diff_src
    const TensorType* weights = nullptr;  ///< weights or diff_weights
    const TensorType* result = nullptr;   ///< dst or diff_dst
};
/// Of a conv2d_transpose, which is a gradient, the image is dst and the result src.
ConvOperands conv_operands(const Problem& problem);

/// The shape of a problem of conv2d, conv2d_backward_data or conv2d_backward_weights. A dense
/// operator is the convolution of one-pixel images: `dense_shape` gives that for dense,
/// dense_backward_data, dense_backward_weights.
ConvShape conv_shape(const Problem& problem);
ConvShape dense_shape(const Problem& problem);
/// Either, by the operator, of which no more than the name says that it is a dense one.
bool is_dense(const Problem& problem);
ConvShape product_shape(const Problem& problem);

/// What a convolution or a dense layer makes: its result, the image (conv2d_transpose, too), or the
/// weights.
enum class ProductSide { forward, backward_data, backward_weights };
ProductSide side_of(const Problem& problem);

/// Whether the operands are stored as the kernels expect (see above), sizes of one counting as any
/// order.
bool channels_last(const Problem& problem);
/// The same of the images alone: packed weights lie as no image does.
bool images_channels_last(const Problem& problem);

/// Elements between neighbours along the logical axes, for the reference kernels, which take any
/// order; the others are only bound to problems stored channels last.
struct ConvStrides {
    using Axes = std::array<std::int64_t, 4>;
    Axes image{};    ///< N,C,H,W of src or diff_src
    Axes weights{};  ///< F,C/groups,KH,KW
    Axes result{};   ///< N,F,H,W of dst or diff_dst
    /// The form of packed weights: the filters of a block, and the elements of one. 0: they are not
    /// packed.
    std::int64_t block = 0, block_size = 0;
};
ConvStrides channels_last_strides(const ConvShape& shape);
ConvStrides conv_strides(const Problem& problem);
/// The weights lie in blocks of so many filters (kernels/packed_weights.hpp).
void pack(ConvStrides& strides, const ConvShape& shape, std::int64_t block);

/// What convolutions and dense layers are, forward and backward.
struct ProductArguments : FromOperands {
    ConvShape shape;
    ConvStrides strides;
    bool tf32 = o.problem.flag("tf32");  ///< devices may round the factors of products to TF32
    /// The factors of products are rounded to bfloat16, ties to even.
    bool bf16 = o.problem.flag("bf16");
    /// Of a library, by its own order; -1: the first.
    int engine = int(o.problem.integer("engine", -1));
    Workspace workspace = o.workspace;

    explicit ProductArguments(const Operands& operands);
};

template <class T>
struct Conv2dArguments : ProductArguments {
    bool relu = ends_in_relu(o.problem);
    bool written = has_written_epilogue(o.problem);  ///< no residual, no statistics
    ElementwiseArguments<T> epilogue;  ///< where it is written: over dst, without sources
    const T* src = o.source("src");
    const T* weights = o.source("weights");    ///< in blocks where strides.block says so
    const Wide<T>* bias = o.source("bias");    ///< [F]; null: none
    const T* residual = o.source("residual");  ///< like dst; null: none
    T* dst = o.result("dst");
    double* statistics = o.result("statistics");  ///< [3,F]; null: none

    explicit Conv2dArguments(const Operands& operands) : ProductArguments(operands) {
        if (written) epilogue.read_terms(o.problem);
    }
};

/// diff_src is the transpose of conv2d applied to diff_dst, times (mask > 0) where there is a mask.
template <class T>
struct Conv2dBackwardDataArguments : ProductArguments {
    using ProductArguments::ProductArguments;
    const T* diff_dst = o.source("diff_dst", "src");
    const T* weights = o.source("weights");
    const T* mask = o.source("y");           ///< y, like diff_src; null: none
    const Wide<T>* bias = o.source("bias");  ///< [C], of conv2d_transpose; null: none
    bool relu = ends_in_relu(o.problem);     ///< of conv2d_transpose
    T* diff_src = o.result("diff_src", "dst");
};

/// Transposed convolution: the gradient of a convolution by its source, as a layer with a bias.
/// With [C, F/groups, KH, KW] the layer's weights, the convolution has C filters and F channels, so
/// the layer's src is diff_dst and its dst diff_src.
template <class T>
using Conv2dTransposeArguments = Conv2dBackwardDataArguments<T>;

/// diff_weights[kh,kw,c,f] is the sum over n,oh,ow of src (at that tap) * diff_dst; diff_bias[f]
/// that of diff_dst.
template <class T>
struct Conv2dBackwardWeightsArguments : ProductArguments {
    using ProductArguments::ProductArguments;
    const T* src = o.source("src");
    const T* diff_dst = o.source("diff_dst");
    Wide<T>* diff_weights = o.result("diff_weights");
    Wide<T>* diff_bias = o.result("diff_bias");  ///< [F]; null: none
};

/// Dense layers: dst[n,u] = epilogue(bias[u] + sum over k of src[n,k] * weights[k,u]), all
/// row-major in the physical order of their operands (a dense layer that absorbed a flatten reads
/// its rows channels last). All axes of dst but the last are rows. They are convolutions of
/// one-pixel images: channels are K, filters are units.
template <class T>
using DenseArguments = Conv2dArguments<T>;
template <class T>
using DenseBackwardDataArguments = Conv2dBackwardDataArguments<T>;
template <class T>
using DenseBackwardWeightsArguments = Conv2dBackwardWeightsArguments<T>;

}  // namespace dtnn::kernels
