#include <fmt/format.h>

#include "compiler/ir/printer.hpp"
#include "compiler/ops/spatial.hpp"

namespace dtnn::compiler {
namespace {

std::int64_t multiplier_of(const Attributes& attributes) {
    const auto found = attributes.find("multiplier");
    return found == attributes.end() ? 1 : std::get<std::int64_t>(found->second);
}

std::int64_t results_of(const Type& input, const Attributes& attributes) {
    return (input.dims.size() > 1 ? input.dims[1] : 1) * multiplier_of(attributes);
}

/// [C*multiplier, 1, KH, KW], as of conv2d with as many groups as channels.
Dims depthwise_weights_dims(const Type& input, const Attributes& attributes) {
    const auto kernel = pair_of(attributes, "kernel", 3);
    return {results_of(input, attributes), 1, kernel[0], kernel[1]};
}

/// A result is summed from the cells of one window; an image cell goes into `multiplier` results a
/// cell.
plan::Initializer depthwise_weights_initializer(const Dims& dims, const Attributes& attributes) {
    const std::int64_t cells = dims[2] * dims[3];
    return initializer(attributes, "weights_initializer", "glorot_uniform", cells,
                       multiplier_of(attributes) * cells);
}

void depthwise_conv2d_shape(ShapeContext& c) {
    if (!expect_image(c, "depthwise_conv2d")) return;
    fallback(c, "bias", false);
    const Type& src = c.input(0);
    const Dims& weights = c.input(1).dims;
    if (weights.size() != 4 || weights[1] != 1 || weights[0] % src.dims[1] != 0) {
        c.fail(fmt::format("depthwise_conv2d: weights {} do not fit {} channels",
                           shape_text(weights), src.dims[1]));
        return;
    }
    const auto window = resolve_window(c, {weights[2], weights[3]}, src.dims);
    if (!window) return;
    if (!expect_dims(c, "bias", {weights[0]})) return;
    for (const char* name : {"kernel", "multiplier", "weights_initializer", "bias_initializer"})
        c.attributes().erase(name);
    c.result(windowed_type(src, weights[0], *window));
}

}  // namespace

/// dst[n,c*m+j,y,x] = sum over i,k of src[n, c, y*s+i*d-p, x*s+k*d-p] * weights[c*m+j,0,i,k] +
/// bias[c*m+j], m being the multiplier.
OpDef define_depthwise_conv2d() {
    return OpBuilder("depthwise_conv2d")
        .family(Family::convolution)
        .kernel_class(convolution_class)
        .keeps_channels_apart()
        .general_form([](const Graph& graph, Node node) {
            take_padding(graph, node);
            node.op = "conv2d";
            node.attributes["groups"] = graph.type(node.inputs[0]).dims[1];
            return std::vector<Node>{std::move(node)};
        })
        .doc(
            "Convolution of each channel with filters of its own; results of the same channel are "
            "neighbours.")
        .layer("- depthwise_conv2d: {kernel: 3, padding: same}")
        .field(pair_field("kernel", 3, "extents of a filter"))
        .field(pair_field("stride", 1, "cells from one window to the next"))
        .field(padding_field())
        .field(pair_field("dilation", 1, "distance of neighbouring filter cells in the image"))
        .field(integer_field("multiplier", 1, "number of filters, and of results, per channel", 1,
                             kLargestWindow))
        .weights_and_bias("whether a learned number per filter is added", depthwise_weights_dims,
                          depthwise_weights_initializer, results_of)
        .shape(depthwise_conv2d_shape)
        .no_gradient("abstract: canonicalize makes it conv2d in groups before differentiation")
        .flops([](const std::vector<Type>& in, const std::vector<Type>& out, const Attributes& a) {
            const Dims& w = in[1].dims;
            return saturating_product({2, out[0].elements(), w[2], w[3]}) +
                   (flag(a, "bias") ? out[0].elements() : 0);
        });
}

}  // namespace dtnn::compiler
