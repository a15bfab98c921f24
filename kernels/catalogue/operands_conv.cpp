/// Convolutions and dense layers, and their gradients.

#include <algorithm>

#include "kernels/arguments/conv2d.hpp"
#include "kernels/catalogue/operand_rule.hpp"
#include "kernels/packed_weights.hpp"

namespace dtnn::kernels::operands {
namespace {

/// The type of the weights, or of their gradient.
DType type_of_weights(const Rule& rule) {
    const DType dtype = rule.problem().dtype;
    return rule.operand("diff_weights") != nullptr ? wide_of(dtype) : dtype;
}

void convolution(Rule& rule, const ConvOperands& o) {
    const DType of_weights = type_of_weights(rule);
    for (const TensorType* tensor : {o.image, o.weights, o.result}) {
        rule.type(tensor, tensor == o.weights ? of_weights : rule.problem().dtype);
        if (!rule.image(*tensor)) return;  // the weights, too: each filter is one
    }
    const std::int64_t groups = rule.problem().integer("groups");
    const std::int64_t channels = o.image->dims[1], filters = o.result->dims[1];
    rule.require(groups >= 1 && channels % std::max<std::int64_t>(1, groups) == 0 &&
                     filters % std::max<std::int64_t>(1, groups) == 0,
                 std::to_string(groups) + " groups do not divide its channels");
    if (rule.broken()) return;
    const std::int64_t height = o.weights->dims[2], width = o.weights->dims[3];
    rule.shape(o.weights, {filters, channels / groups, height, width}, of_weights);
    window(rule, *o.image, *o.result, height, width);
}

/// Weights in blocks of filters, as pack_weights stores them; `others` are their other axes.
void packed(Rule& rule, const TensorType& weights, std::int64_t filters, const Dims& others) {
    const std::vector<std::int64_t> form = rule.problem().integers("packed");
    const std::int64_t block = packed_block(rule.problem());
    rule.require(block >= 1 && block <= kWidestBlock && form[0] == filters,
                 "its weights cannot be packed as " + text_of(form));
    if (rule.broken()) return;
    Dims dims{(filters + block - 1) / block};
    dims.insert(dims.end(), others.begin(), others.end());
    dims.push_back(block);
    rule.shape(weights, dims);
    const std::vector<int> order = stored_order(weights);
    rule.require(order.front() == 0 && order.back() == int(dims.size()) - 1,
                 "its blocks are not stored one after the other");
}

/// The same for a convolution, whose weights no other order than this suits.
void packed_convolution(Rule& rule, const ConvOperands& o) {
    constexpr std::size_t kPackedAxes = 5;  // blocks, channels, height, width, filters of a block
    if (!rule.rank(*o.weights, kPackedAxes) || !rule.image(*o.image) || !rule.image(*o.result))
        return;
    const Dims& weights = o.weights->dims;
    rule.type(o.image, rule.problem().dtype);
    rule.type(o.result, rule.problem().dtype);
    rule.require(rule.problem().integer("groups") == 1, "packed weights have one group");
    packed(rule, *o.weights, o.result->dims[1], {o.image->dims[1], weights[2], weights[3]});
    rule.require(stored_order(*o.weights) == std::vector<int>{0, 2, 3, 1, 4},
                 "its blocks are not stored by kernel cells and channels");
    if (!rule.broken()) window(rule, *o.image, *o.result, weights[2], weights[3]);
}

/// Whether the axes of `result` before its units, which are its rows, come first in `image`, too,
/// and in which order both are stored.
bool rows(Rule& rule, const TensorType& image, const TensorType& result) {
    // A batch, any further rows, and the units.
    rule.require(result.dims.size() >= 2 && image.dims.size() >= result.dims.size(),
                 text_of(image.dims) + " are not rows for " + text_of(result.dims));
    if (rule.broken()) return false;
    const std::size_t leading = result.dims.size() - 1;
    rule.require(std::equal(result.dims.begin(), result.dims.end() - 1, image.dims.begin()),
                 text_of(image.dims) + " are not rows for " + text_of(result.dims));
    rule.require(leading == 1 || (is_row_major(image) && is_row_major(result)),
                 "its rows are not stored one after the other");
    return !rule.broken();
}

/// Rows of the image, times the weights, are rows of the result; the units may be in blocks.
void product(Rule& rule, const ConvOperands& o, bool in_blocks) {
    for (const char* flag : {"residual", "statistics"})
        if (!rule.absent(flag)) return;
    rule.require(!has_written_epilogue(rule.problem()), "its epilogue cannot be an expression");
    // The blocks, what makes up a product, and the units of a block.
    if (in_blocks) rule.require(o.weights->dims.size() >= 3, "its weights are not in blocks");
    if (rule.broken() || !rows(rule, *o.image, *o.result)) return;
    const std::int64_t units = o.result->dims.back();
    const Dims& weights = o.weights->dims;
    rule.type(o.result, rule.problem().dtype);
    if (in_blocks) {
        packed(rule, *o.weights, units, {weights.begin() + 1, weights.end() - 1});
        if (rule.broken()) return;
    } else {
        rule.require(weights.size() >= 2 && weights.back() == units && units > 0,
                     text_of(o.image->dims) + " times " + text_of(weights) + " is not " +
                         text_of(o.result->dims));
        if (rule.broken()) return;
        rule.type(o.weights, type_of_weights(rule));
    }
    const std::int64_t columns = in_blocks ? weights.front() * weights.back() : units;
    rule.elements(o.image, o.result->elements() / units * (o.weights->elements() / columns));
}

}  // namespace

/// Of conv2d_transpose and of both gradients, too.
void conv2d(Rule& rule) {
    const Problem& p = rule.problem();
    const ConvOperands o = conv_operands(p);
    const bool forward = side_of(p) == ProductSide::forward;
    if (forward && p.attributes.contains("packed"))
        packed_convolution(rule, o);
    else
        convolution(rule, o);
    if (rule.broken()) return;
    const TensorType& made = rule.first_result();
    rule.wide(rule.operand("bias"), made.dims[1]);
    rule.wide(rule.operand("diff_bias"), o.result->dims[1]);
    rule.alike(rule.operand("residual"), made);
    rule.elements(rule.operand("y"), made.elements());
    rule.same_place(rule.operand("y"), made);
    const TensorType* statistics = rule.operand("statistics");
    rule.elements(statistics, 3 * made.dims[1], DType::f64);
    if (!has_written_epilogue(p)) return;
    rule.require(forward, "its epilogue cannot be an expression");
    written_epilogue(rule, 1);
    rule.require(statistics == nullptr, "its expression does not stand alone");
}

/// Of both gradients, too.
void dense(Rule& rule) {
    const Problem& p = rule.problem();
    const ConvOperands o = conv_operands(p);
    product(rule, o, side_of(p) == ProductSide::forward && p.attributes.contains("packed"));
    if (rule.broken()) return;
    rule.wide(rule.operand("bias"), o.result->dims.back());
    rule.wide(rule.operand("diff_bias"), o.result->dims.back());
    rule.elements(rule.operand("y"), rule.first_result().elements());
}

}  // namespace dtnn::kernels::operands
