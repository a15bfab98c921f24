#include "kernels/arguments/conv2d.hpp"
#include "kernels/packed_weights.hpp"

namespace dtnn::kernels {
namespace {

/// Counts the weights of one filter among packed ones, [blocks, ..., filters of a block].
std::int64_t products_of_a_filter(const TensorType& packed) {
    std::int64_t count = 1;
    for (std::size_t i = 1; i + 1 < packed.dims.size(); ++i)
        count *= packed.dims[i];
    return count;
}

bool stored(const TensorType& desc, const Order& order) {
    return desc.dims.size() == order.size() && same_layout(desc, {desc.dtype, desc.dims, order});
}

/// A transposed convolution has the operands of a convolution, and no attribute of its own: its
/// name alone says that they stand the other way round.
bool is_transposed(const Problem& problem) {
    return problem.op == "conv2d_transpose";
}

}  // namespace

ConvOperands conv_operands(const Problem& problem) {
    const Operands o(problem);
    const auto of = [&](const char* source, const char* result) {
        const auto found = o.source(source);
        return found ? found.type() : o.result(result).type();
    };
    if (is_transposed(problem))
        return {o.result("dst").type(), o.source("weights").type(), o.source("src").type()};
    return {of("src", "diff_src"), of("weights", "diff_weights"), of("diff_dst", "dst")};
}

ConvShape conv_shape(const Problem& problem) {
    const ConvOperands operands = conv_operands(problem);
    ConvShape shape;
    shape.batch = operands.image->dims[0];
    shape.channels = operands.image->dims[1];
    shape.height = operands.image->dims[2];
    shape.width = operands.image->dims[3];
    shape.filters = operands.result->dims[1];
    shape.out_height = operands.result->dims[2];
    shape.out_width = operands.result->dims[3];
    shape.kernel_height = operands.weights->dims[2];
    shape.kernel_width = operands.weights->dims[3];
    shape.groups = problem.integer("groups");
    const auto stride = problem.integers("stride");
    if (stride.size() == 2) shape.stride_height = stride[0], shape.stride_width = stride[1];
    const auto dilation = problem.integers("dilation");
    if (dilation.size() == 2)
        shape.dilation_height = dilation[0], shape.dilation_width = dilation[1];
    const auto padding = problem.integers("padding");
    if (padding.size() == 4) {
        shape.pad_top = padding[0];
        shape.pad_bottom = padding[1];
        shape.pad_left = padding[2];
        shape.pad_right = padding[3];
    }
    return shape;
}

ConvShape dense_shape(const Problem& problem) {
    const ConvOperands operands = conv_operands(problem);
    ConvShape shape;
    shape.filters = operands.result->dims.back();
    shape.batch = shape.filters == 0 ? 0 : operands.result->elements() / shape.filters;
    shape.channels = packed_block(problem) > 0 ? products_of_a_filter(*operands.weights)
                                               : operands.weights->elements() / shape.filters;
    shape.height = shape.width = shape.out_height = shape.out_width = 1;
    shape.kernel_height = shape.kernel_width = 1;
    return shape;
}

// The name says it, as a packed matrix has as many axes as packed filters; gradients have the name
// of the layer in front of theirs.
bool is_dense(const Problem& problem) {
    return problem.op.starts_with("dense");
}

ConvShape product_shape(const Problem& problem) {
    return is_dense(problem) ? dense_shape(problem) : conv_shape(problem);
}

ProductSide side_of(const Problem& problem) {
    const Operands o(problem);
    if (is_transposed(problem) || o.result("diff_src")) return ProductSide::backward_data;
    return o.result("diff_weights") ? ProductSide::backward_weights : ProductSide::forward;
}

bool channels_last(const Problem& problem) {
    const ConvOperands operands = conv_operands(problem);
    return stored(*operands.image, {0, 2, 3, 1}) && stored(*operands.weights, {2, 3, 1, 0}) &&
           stored(*operands.result, {0, 2, 3, 1});
}

bool images_channels_last(const Problem& problem) {
    const ConvOperands operands = conv_operands(problem);
    return stored(*operands.image, {0, 2, 3, 1}) && stored(*operands.result, {0, 2, 3, 1});
}

ConvStrides channels_last_strides(const ConvShape& s) {
    ConvStrides strides;
    strides.image = {s.height * s.width * s.channels, 1, s.width * s.channels, s.channels};
    strides.weights = {1, s.filters, s.kernel_width * s.group_channels() * s.filters,
                       s.group_channels() * s.filters};
    strides.result = {s.out_height * s.out_width * s.filters, 1, s.out_width * s.filters,
                      s.filters};
    return strides;
}

void pack(ConvStrides& strides, const ConvShape& s, std::int64_t block) {
    strides.block = block;
    strides.weights = {1, block, s.kernel_width * s.channels * block, s.channels * block};
    strides.block_size = s.taps() * s.channels * block;
}

ConvStrides conv_strides(const Problem& problem) {
    const auto of = [](const TensorType& desc) {
        ConvStrides::Axes strides{};
        std::int64_t step = 1;
        for (std::size_t i = desc.dims.size(); i-- > 0;) {
            const auto axis = desc.order.empty() ? i : std::size_t(desc.order[i]);
            strides[axis] = step;
            step *= desc.dims[axis];
        }
        return strides;
    };
    const ConvOperands operands = conv_operands(problem);
    ConvStrides strides;
    strides.image = of(*operands.image);
    strides.result = of(*operands.result);
    if (const std::int64_t block = packed_block(problem); block > 0)
        pack(strides, conv_shape(problem), block);
    else
        strides.weights = of(*operands.weights);
    return strides;
}

}  // namespace dtnn::kernels
