#include <fmt/format.h>

#include "compiler/ir/printer.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/ops/spatial.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

/// [F, C/groups, KH, KW]. When groups do not divide the channels the shape rule says so, from the
/// same numbers.
Dims weights_dims(const Type& input, const Attributes& attributes) {
    const std::int64_t channels = input.dims.size() > 1 ? input.dims[1] : 1;
    const auto kernel = pair_of(attributes, "kernel", 3);
    const std::int64_t per_group = std::max<std::int64_t>(channels / groups_of(attributes), 1);
    return {std::get<std::int64_t>(attributes.at("filters")), per_group, kernel[0], kernel[1]};
}

plan::Initializer weights_initializer(const Dims& dims, const Attributes& attributes) {
    const std::int64_t cells = dims[2] * dims[3];
    return initializer(attributes, "weights_initializer", "glorot_uniform", dims[1] * cells,
                       dims[0] / groups_of(attributes) * cells);
}

void conv2d_shape(ShapeContext& c) {
    if (!expect_image(c, "conv2d")) return;
    fallback(c, "groups");
    fallback(c, "bias", false);
    const Type& src = c.input(0);
    const Dims& weights = c.input(1).dims;
    const bool packed = is_packed(c);
    if (weights.size() != (packed ? 5 : 4)) {
        c.fail("conv2d: weights must have 4 axes, 5 where they are packed, got " +
               shape_text(weights));
        return;
    }
    const std::int64_t groups = c.integer("groups"), channels = src.dims[1];
    const std::int64_t filters = packed ? packed_filters(c, 1) : weights[0];
    if (c.error()) return;
    if (!expect_divided(c, groups, channels, "channels of the input")) return;
    if (!expect_divided(c, groups, filters, "filters")) return;
    if (weights[1] != channels / groups) {
        c.fail(fmt::format("conv2d: weights {} do not fit {} channels in {} groups",
                           shape_text(weights), channels, groups));
        return;
    }
    const auto window = resolve_window(c, {weights[2], weights[3]}, src.dims);
    if (!window) return;
    const Type dst = windowed_type(src, filters, *window);
    if (!expect_dims(c, "bias", {filters})) return;
    if (!expect_dims(c, "residual", dst.dims)) return;
    // The fields that users write about the weights live in the weights' shape and the layer table.
    for (const char* name : {"filters", "kernel", "weights_initializer", "bias_initializer"})
        c.attributes().erase(name);
    c.result(dst);
    if (c.flag("statistics")) c.result(Type{DType::f64, {3, filters}, {}});
}

void conv2d_gradient(GradientContext& g) {
    const Node& node = g.node();
    DTNN_CHECK(!has_epilogue(node), "conv2d is fused after differentiation");
    const bool bias = flag(node.attributes, "bias");
    // Copies: emitting a node may move what the graph holds.
    const Dims src = g.graph().type(g.input(0)).dims;
    const Dims weights = g.graph().type(g.input(1)).dims;
    const Attributes spatial = pick(node.attributes, {"stride", "padding", "dilation", "groups"});
    if (g.wants(0)) {
        Attributes attributes = spatial;
        attributes["source_shape"] = src;
        g.set(0, g.emit("conv2d_backward_data", {g.diff(0), g.input(1)}, std::move(attributes),
                        "diff_src")[0]);
    }
    if (g.wants(1) || (bias && g.wants(2))) {
        Attributes attributes = spatial;
        attributes["bias"] = bias;
        attributes["kernel"] = std::vector<std::int64_t>{weights[2], weights[3]};
        const auto diffs = g.emit("conv2d_backward_weights", {g.input(0), g.diff(0)},
                                  std::move(attributes), "diff_weights");
        g.set(1, diffs[0]);
        if (bias) g.set(2, diffs[1]);
    }
}

std::int64_t count(const std::vector<Type>& in, const std::vector<Type>& out,
                   const Attributes& attributes) {
    const Dims& w = in[1].dims;
    const std::int64_t elements = out[0].elements();
    std::int64_t per_element = 0;
    if (flag(attributes, "bias")) per_element += 1;
    if (flag(attributes, "residual")) per_element += 1;
    per_element += flops_of_epilogue(attributes);
    if (flag(attributes, "statistics")) per_element += 3;
    return saturating_product({2, elements, w[1], w[2], w[3]}) + per_element * elements;
}

}  // namespace

/// dst[n,f,y,x] = sum over c,i,j of src[n, c, y*s+i*d-p, x*s+j*d-p] * weights[f,c,i,j] + bias[f], c
/// over f's group.
OpDef define_conv2d() {
    return OpBuilder("conv2d")
        .family(Family::convolution)
        .kernel_class(convolution_class)
        .multiplies()
        .attribute("epilogue", std::string("none"))
        .takes({Epilogue::residual, Epilogue::relu, Epilogue::expression})
        .general_form([](const Graph& graph, Node node) {
            return take_padding(graph, node) ? std::vector<Node>{std::move(node)}
                                             : std::vector<Node>{};
        })
        .weights_operand(1, kFilterOrder)
        .doc(
            "Convolution of images (cross-correlation, as usual for networks) with learned "
            "filters.")
        .layer("- conv2d: {filters: 32, kernel: 3, padding: same}")
        .field(integer_field("filters", {}, "number of output channels", 1, kLargestExtent))
        .field(pair_field("kernel", 3, "extents of a filter"))
        .field(pair_field("stride", 1, "cells from one window to the next"))
        .field(padding_field())
        .field(pair_field("dilation", 1, "distance of neighbouring filter cells in the image"))
        .field(integer_field("groups", 1,
                             "the channels are split into this many groups, convolved apart", 1,
                             kLargestExtent))
        .weights_and_bias("whether a learned number per filter is added", weights_dims,
                          weights_initializer, units_in("filters"))
        .shape(conv2d_shape)
        .gradient(conv2d_gradient)
        .flops(count);
}

}  // namespace dtnn::compiler
