/// Convolutions and dense layers, and their gradients.

#include <algorithm>

#include "kernels/catalogue/operand_rule.hpp"
#include "kernels/packed_weights.hpp"

namespace dtnn::kernels::operands {
namespace {

/// `of_weights`: the type of the weights, or of their gradient.
void convolution(Rule& rule, const TensorDesc& image, const TensorDesc& weights,
                 const TensorDesc& result, DType of_weights) {
    for (const TensorDesc* tensor : {&image, &weights, &result}) {
        rule.type(*tensor, tensor == &weights ? of_weights : rule.problem().dtype);
        if (!rule.rank(*tensor, 4, 4)) return;
    }
    const std::int64_t groups = rule.problem().integer("groups");
    const std::int64_t channels = image.dims[1], filters = result.dims[1];
    rule.require(groups >= 1 && channels % std::max<std::int64_t>(1, groups) == 0 &&
                     filters % std::max<std::int64_t>(1, groups) == 0,
                 std::to_string(groups) + " groups do not divide its channels");
    if (rule.broken()) return;
    rule.shape(weights, {filters, channels / groups, weights.dims[2], weights.dims[3]}, of_weights);
    window(rule, image, result, weights.dims[2], weights.dims[3]);
}

/// Weights in blocks of filters, as pack_weights stores them; `others` are their other axes.
void packed(Rule& rule, const TensorDesc& weights, std::int64_t filters, const Dims& others) {
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
void packed_convolution(Rule& rule) {
    const Problem& p = rule.problem();
    const TensorDesc& image = p.sources[0];
    const TensorDesc& weights = p.sources[1];
    const TensorDesc& result = p.destinations[0];
    if (!rule.rank(weights, 5, 5) || !rule.rank(image, 4, 4) || !rule.rank(result, 4, 4)) return;
    rule.type(image, p.dtype);
    rule.type(result, p.dtype);
    rule.require(p.integer("groups") == 1, "packed weights have one group");
    packed(rule, weights, result.dims[1], {image.dims[1], weights.dims[2], weights.dims[3]});
    rule.require(stored_order(weights) == std::vector<int>{0, 2, 3, 1, 4},
                 "its blocks are not stored by kernel cells and channels");
    if (!rule.broken()) window(rule, image, result, weights.dims[2], weights.dims[3]);
}

/// The mask is an operand stored as what it masks.
void masked(Rule& rule, const TensorDesc& result) {
    if (!rule.problem().flag("mask")) return;
    rule.elements(rule.problem().sources[2], result.elements());
    if (!rule.broken()) rule.same_place(rule.problem().sources[2], result);
}

/// Whether the axes of `result` before its units, which are its rows, come first in `image`, too,
/// and in which order both are stored.
bool rows(Rule& rule, const TensorDesc& image, const TensorDesc& result) {
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

/// Rows of `image`, times `weights`, are rows of `result`.
void product(Rule& rule, const TensorDesc& image, const TensorDesc& weights,
             const TensorDesc& result, DType of_weights) {
    for (const char* flag : {"residual", "statistics"}) {
        if (!rule.absent(flag)) return;
    }
    rule.require(!has_written_epilogue(rule.problem()), "its epilogue cannot be an expression");
    if (!rows(rule, image, result)) return;
    const std::int64_t units = result.dims.back();
    rule.type(result, rule.problem().dtype);
    rule.require(weights.dims.size() >= 2 && weights.dims.back() == units && units > 0,
                 text_of(image.dims) + " times " + text_of(weights.dims) + " is not " +
                     text_of(result.dims));
    if (rule.broken()) return;
    rule.type(weights, of_weights);
    rule.elements(image, result.elements() / units * (weights.elements() / units));
}

/// The same with the units in blocks.
void packed_product(Rule& rule) {
    const Problem& p = rule.problem();
    for (const char* flag : {"residual", "statistics"}) {
        if (!rule.absent(flag)) return;
    }
    const TensorDesc& image = p.sources[0];
    const TensorDesc& weights = p.sources[1];
    const TensorDesc& result = p.destinations[0];
    rule.require(weights.dims.size() >= 3, "its weights are not in blocks");
    if (rule.broken() || !rows(rule, image, result)) return;
    const std::int64_t units = result.dims.back();
    rule.type(result, p.dtype);
    packed(rule, weights, units, {weights.dims.begin() + 1, weights.dims.end() - 1});
    if (rule.broken()) return;
    rule.elements(image, result.elements() / units *
                             (weights.elements() / (weights.dims.front() * weights.dims.back())));
}

}  // namespace

void conv2d(Rule& rule) {
    const Problem& p = rule.problem();
    const bool bias = p.flag("bias"), residual = p.flag("residual"),
               statistics = p.flag("statistics");
    if (!rule.counts(2u + bias + residual, 1u + statistics)) return;
    const TensorDesc& dst = p.destinations[0];
    if (p.attributes.contains("packed"))
        packed_convolution(rule);
    else
        convolution(rule, p.sources[0], p.sources[1], dst, p.dtype);
    if (rule.broken()) return;
    if (bias) rule.wide(p.sources[2], dst.dims[1]);
    if (residual) {
        rule.shape(p.sources[2u + bias], dst.dims);
        rule.same_place(p.sources[2u + bias], dst);
    }
    if (statistics) rule.elements(p.destinations[1], 3 * dst.dims[1], DType::f64);
    if (!has_written_epilogue(p)) return;
    written_epilogue(rule, 1);
    rule.require(!statistics, "its expression does not stand alone");
}

void conv2d_backward_data(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2u + p.flag("mask"), 1)) return;
    convolution(rule, p.destinations[0], p.sources[1], p.sources[0], p.dtype);
    masked(rule, p.destinations[0]);
}

/// The convolution that leads from the result back to the source.
void conv2d_transpose(Rule& rule) {
    const Problem& p = rule.problem();
    const bool bias = p.flag("bias");
    if (!rule.counts(2u + bias, 1)) return;
    rule.require(!has_written_epilogue(p), "its epilogue cannot be an expression");
    convolution(rule, p.destinations[0], p.sources[1], p.sources[0], p.dtype);
    if (bias && !rule.broken()) rule.wide(p.sources[2], p.destinations[0].dims[1]);
}

void conv2d_backward_weights(Rule& rule) {
    const Problem& p = rule.problem();
    const bool bias = p.flag("bias");
    if (!rule.counts(2, 1u + bias)) return;
    convolution(rule, p.sources[0], p.destinations[0], p.sources[1], wide_of(p.dtype));
    if (bias && !rule.broken()) rule.wide(p.destinations[1], p.sources[1].dims[1]);
}

void dense(Rule& rule) {
    const Problem& p = rule.problem();
    const bool bias = p.flag("bias");
    if (!rule.counts(2u + bias, 1)) return;
    if (p.attributes.contains("packed"))
        packed_product(rule);
    else
        product(rule, p.sources[0], p.sources[1], p.destinations[0], p.dtype);
    if (bias && !rule.broken()) rule.wide(p.sources[2], p.destinations[0].dims.back());
}

void dense_backward_data(Rule& rule) {
    const Problem& p = rule.problem();
    if (!rule.counts(2u + p.flag("mask"), 1)) return;
    product(rule, p.destinations[0], p.sources[1], p.sources[0], p.dtype);
    if (p.flag("mask")) rule.elements(p.sources[2], p.destinations[0].elements());
}

void dense_backward_weights(Rule& rule) {
    const Problem& p = rule.problem();
    const bool bias = p.flag("bias");
    if (!rule.counts(2, 1u + bias)) return;
    product(rule, p.sources[0], p.destinations[0], p.sources[1], wide_of(p.dtype));
    if (bias && !rule.broken()) rule.wide(p.destinations[1], p.sources[1].dims.back());
}

}  // namespace dtnn::kernels::operands
