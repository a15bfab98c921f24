#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/printer.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/ops/spatial.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

/// [C, F/groups, KH, KW]: the weights of the convolution that leads back.
Dims transposed_weights_dims(const Type& input, const Attributes& attributes) {
    const auto kernel = pair_of(attributes, "kernel", 3);
    const std::int64_t filters = std::get<std::int64_t>(attributes.at("filters"));
    return {input.dims.size() > 1 ? input.dims[1] : 1,
            std::max<std::int64_t>(filters / groups_of(attributes), 1), kernel[0], kernel[1]};
}

/// fan_in counts what a result is summed from, fan_out what a source goes into; the stride is left
/// out, as for convolutions. (PyTorch and Keras read the axes the other way round here.)
plan::Initializer transposed_weights_initializer(const Dims& dims, const Attributes& attributes) {
    const std::int64_t cells = dims[2] * dims[3];
    return initializer(attributes, "weights_initializer", "glorot_uniform",
                       dims[0] / groups_of(attributes) * cells, dims[1] * cells);
}

bool resolve_padding(ShapeContext& c, Window& w, const std::array<std::int64_t, 2>& extra) {
    if (!says(c.attributes(), "padding", PaddingWord::same)) return true;
    for (int axis = 0; axis < 2; ++axis) {
        const auto a = std::size_t(axis);
        const std::int64_t total = w.reach(axis) + extra[a] - w.stride[a];
        if (total < 0) {
            c.fail(fmt::format("padding `same` makes stride times as many cells, but windows of {} "
                               "cells with stride {} leave {} between them empty",
                               w.reach(axis), w.stride[a], -total),
                   fmt::format("add `output_padding: {}`", extra[a] - total), "padding");
            return false;
        }
        w.padding[2 * a] = total / 2;
        w.padding[2 * a + 1] = total - total / 2;
    }
    return true;
}

/// Extents of the result, [1, 1] at least, or a failure.
std::optional<std::array<std::int64_t, 2>> resolve(ShapeContext& c, Window& w, const Dims& src) {
    const auto extra = pair_of(c.attributes(), "output_padding", 0);
    if (!resolve_padding(c, w, extra)) return std::nullopt;
    std::array<std::int64_t, 2> size{};
    for (int axis = 0; axis < 2; ++axis) {
        const auto a = std::size_t(axis);
        if (extra[a] >= w.stride[a]) {
            c.fail(fmt::format("output_padding {} is not less than the stride {}", extra[a],
                               w.stride[a]),
                   "a whole stride more is another row of the input; use less, or pad the result",
                   "output_padding");
            return std::nullopt;
        }
        const std::int64_t before = w.padding[2 * a], after = w.padding[2 * a + 1];
        size[a] = (src[2 + a] - 1) * w.stride[a] + w.reach(axis) + extra[a] - before - after;
        if (size[a] >= 1) continue;
        c.fail(fmt::format("a {}x{} transposed kernel leaves nothing of an input of {}x{}: ({} - "
                           "1)*{} + {}*({}-1) + 1 + {} - {} - {} = {}",
                           w.kernel[0], w.kernel[1], src[2], src[3], src[2 + a], w.stride[a],
                           w.dilation[a], w.kernel[a], extra[a], before, after, size[a]),
               "padding is cut off the result; use less", "padding");
        return std::nullopt;
    }
    c.attributes()["stride"] = std::vector<std::int64_t>(w.stride.begin(), w.stride.end());
    c.attributes()["dilation"] = std::vector<std::int64_t>(w.dilation.begin(), w.dilation.end());
    c.attributes()["padding"] = std::vector<std::int64_t>(w.padding.begin(), w.padding.end());
    c.attributes()["output_padding"] = std::vector<std::int64_t>(extra.begin(), extra.end());
    return size;
}

void conv2d_transpose_shape(ShapeContext& c) {
    if (!expect_image(c, "conv2d_transpose")) return;
    fallback(c, "groups");
    fallback(c, "bias", false);
    const Type& src = c.input(0);
    const Dims& weights = c.input(1).dims;
    const std::int64_t groups = c.integer("groups"), channels = src.dims[1];
    if (!expect_divided(c, groups, channels, "channels of the input")) return;
    if (const auto found = c.attributes().find("filters"); found != c.attributes().end()) {
        const std::int64_t filters = std::get<std::int64_t>(found->second);
        if (!expect_divided(c, groups, filters, "filters")) return;
    }
    if (weights.size() != 4 || weights[0] != channels) {
        c.fail(fmt::format("conv2d_transpose: weights {} do not fit {} channels",
                           shape_text(weights), channels));
        return;
    }
    Window w = window_of(c.attributes(), {weights[2], weights[3]});
    const auto size = resolve(c, w, src.dims);
    if (!size) return;
    const std::int64_t filters = weights[1] * groups;
    if (!expect_dims(c, "bias", {filters})) return;
    for (const char* name : {"filters", "kernel", "weights_initializer", "bias_initializer"})
        c.attributes().erase(name);
    Type dst = src;
    dst.dims = {src.dims[0], filters, (*size)[0], (*size)[1]};
    c.result(dst);
}

/// The layer is the transpose of a convolution, so that convolution is its gradient, and the
/// weights' gradient is the convolution's with source and result exchanged.
void conv2d_transpose_gradient(GradientContext& g) {
    const Node& node = g.node();
    DTNN_CHECK(!has_epilogue(node), "conv2d_transpose is fused after differentiation");
    const Dims weights = g.graph().type(g.input(1)).dims;
    const Attributes spatial = pick(node.attributes, {"stride", "padding", "dilation", "groups"});
    if (g.wants(0)) g.set(0, g.emit("conv2d", {g.diff(0), g.input(1)}, spatial, "diff_src")[0]);
    if (g.wants(1)) {
        Attributes attributes = spatial;
        attributes["kernel"] = std::vector<std::int64_t>{weights[2], weights[3]};
        g.set(1, g.emit("conv2d_backward_weights", {g.diff(0), g.input(0)}, std::move(attributes),
                        "diff_weights")[0]);
    }
    if (flag(node.attributes, "bias") && g.wants(2))
        g.set(2, g.emit("channel_sums", {g.diff(0)}, {}, "diff_bias")[0]);
}

}  // namespace

/// dst[n,f,y,x] = bias[f] + sum over c,i,j of src[n,c,a,b] * weights[c,f,i,j] where y = a*s + i*d -
/// top and x = b*s + j*d - left, c over f's group.
OpDef define_conv2d_transpose() {
    return OpBuilder("conv2d_transpose")
        .family(Family::convolution)
        .kernel_class(convolution_class)
        .multiplies()
        .attribute("epilogue", std::string("none"))
        .takes({Epilogue::relu})
        .weights_operand(1, kFilterOrder)
        .doc(
            "Transposed convolution: every input cell adds its filter to the result, stride apart; "
            "it enlarges images as a convolution of the same fields shrinks them.")
        .layer("- conv2d_transpose: {filters: 32, kernel: 2, stride: 2}")
        .field(integer_field("filters", {}, "number of output channels", 1, kLargestExtent))
        .field(pair_field("kernel", 3, "extents of a filter"))
        .field(pair_field("stride", 1, "cells of the result from one input cell to the next"))
        .field(padding_field())
        .field(pair_field("output_padding", 0,
                          "rows and columns more at the bottom and the right of the result, less "
                          "than the stride",
                          0))
        .field(pair_field("dilation", 1, "distance of neighbouring filter cells in the result"))
        .field(integer_field("groups", 1,
                             "the channels are split into this many groups, convolved apart", 1,
                             kLargestExtent))
        .weights_and_bias("whether a learned number per filter is added", transposed_weights_dims,
                          transposed_weights_initializer, units_in("filters"))
        .shape(conv2d_transpose_shape)
        .gradient(conv2d_transpose_gradient)
        .flops([](const std::vector<Type>& in, const std::vector<Type>& out, const Attributes& a) {
            const Dims& w = in[1].dims;
            const std::int64_t per_element = (flag(a, "bias") ? 1 : 0) + flops_of_epilogue(a);
            return saturating_product({2, in[0].elements(), w[1], w[2], w[3]}) +
                   per_element * out[0].elements();
        });
}

}  // namespace dtnn::compiler
