#include "compiler/ops/dense/dense.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/printer.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/ops/shared_form.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

/// [K, units]. An image has no K yet: the shape rule asks for flatten, whatever stands here.
Dims dense_weights_dims(const Type& input, const Attributes& attributes) {
    return {input.dims.back(), std::get<std::int64_t>(attributes.at("units"))};
}

plan::Initializer dense_weights_initializer(const Dims& dims, const Attributes& attributes) {
    return initializer(attributes, "weights_initializer", "glorot_uniform", dims[0], dims[1]);
}

/// The source's axes before those that are summed over, then the units.
Type dense_result(const Type& src, std::size_t summed, std::int64_t units) {
    Type dst{src.dtype, src.dims, {}, src.axes};
    dst.dims.resize(src.dims.size() - summed);
    dst.axes.resize(src.dims.size() - summed);
    dst.dims.push_back(units);
    dst.axes.push_back(AxisKind::feature);
    return dst;
}

void dense_shape(ShapeContext& c) {
    fallback(c, "bias", false);
    const Type& src = c.input(0);
    Dims weights = c.input(1).dims;
    if (c.flag(kTransposed)) std::reverse(weights.begin(), weights.end());
    if (is_packed(c)) {
        const std::int64_t units = packed_filters(c, 1);
        if (c.error()) return;
        weights.erase(weights.begin());
        weights.back() = units;
    }
    const std::size_t summed = weights.empty() ? 0 : weights.size() - 1;
    const bool features_last = !src.axes.empty() && src.axes.back() == AxisKind::feature;
    // With flatten absorbed, source and weights both keep the image's axes.
    const bool absorbed = is_image(src) && summed + 1 == src.dims.size();
    if (!features_last && !absorbed) {
        c.fail(fmt::format("dense takes one row of numbers per sample, but its input is {}{}",
                           is_image(src) ? "an image of " : "", sample_text(src)),
               "put `flatten` before it");
        return;
    }
    const bool fits = summed >= 1 && summed < src.dims.size() &&
                      std::equal(weights.begin(), weights.end() - 1,
                                 src.dims.end() - std::ptrdiff_t(summed), src.dims.end());
    if (!fits) {
        c.fail(fmt::format("dense: weights {} do not fit a source of {}", shape_text(weights),
                           shape_text(src.dims)));
        return;
    }
    const std::int64_t units = weights.back();
    if (!expect_dims(c, "bias", {units})) return;
    for (const char* name : {"units", "weights_initializer", "bias_initializer"})
        c.attributes().erase(name);
    c.result(dense_result(src, summed, units));
}

void dense_gradient(GradientContext& g) {
    const Node& node = g.node();
    DTNN_CHECK(!has_epilogue(node), "dense is fused after differentiation");
    DTNN_CHECK(!flag(node.attributes, kTransposed), "its general form has the gradient");
    const bool bias = flag(node.attributes, "bias");
    if (g.wants(0))
        g.set(0, g.emit("dense_backward_data", {g.diff(0), g.input(1)},
                        {{"source_shape", g.graph().type(g.input(0)).dims}}, "diff_src")[0]);
    if (g.wants(1) || (bias && g.wants(2))) {
        const auto diffs = g.emit(
            "dense_backward_weights", {g.input(0), g.diff(0)},
            {{"bias", bias}, {"weights_shape", g.graph().type(g.input(1)).dims}}, "diff_weights");
        g.set(1, diffs[0]);
        if (bias) g.set(2, diffs[1]);
    }
}

/// With weights [units, K], another layer's, it is what the gradient by a source is of weights
/// [K, units], and then the sum with the bias.
std::vector<Node> dense_general_form(const Graph& graph, const Node& node) {
    if (!flag(node.attributes, kTransposed)) return {};
    std::vector<Node> form =
        becomes(node, "dense_backward_data", {{"source_shape", graph.type(node.outputs[0]).dims}});
    form.front().inputs = {node.inputs[0], node.inputs[1]};
    if (flag(node.attributes, "bias")) {
        form.push_back(becomes(node, "elementwise", {{"expression", std::string("x0 c1 add")}})[0]);
        form.back().inputs = {node.inputs[0], node.inputs[2]};
    }
    return form;
}

}  // namespace

KernelClass product_class(const KernelClassContext& c) {
    return c.kernel == "blis" ? KernelClass::large_products : KernelClass::products;
}

KernelClass product_gradient_class(const KernelClassContext& c) {
    if (c.kernel == "blis" || c.inputs[1].dims.back() >= kLanes) return product_class(c);
    return KernelClass::narrow_products;
}

/// dst[n,u] = sum over k of src[n,k] * weights[k,u] + bias[u], n running over all axes of the
/// source before its features.
OpDef define_dense() {
    return OpBuilder("dense")
        .family(Family::dense)
        .kernel_class(product_class)
        .multiplies()
        .same_step()
        .attribute("epilogue", std::string("none"))
        .takes({Epilogue::relu})
        .weights_operand(1, kDenseOrder)
        .reads_transposed({"dense", "embedding"})
        .general_form(dense_general_form)
        .doc("Fully connected layer: every unit reads every number of the input.")
        .layer("- dense: {units: 10}")
        .field(integer_field("units", {}, "numbers that come out", 1, kLargestExtent))
        .weights_and_bias("whether a learned number per unit is added", dense_weights_dims,
                          dense_weights_initializer, units_in("units"))
        .shape(dense_shape)
        .gradient(dense_gradient)
        .flops([](const std::vector<Type>& in, const std::vector<Type>& out, const Attributes& a) {
            const std::int64_t per_element = (flag(a, "bias") ? 1 : 0) + flops_of_epilogue(a);
            return saturating_product({2, in[0].elements(), out[0].dims.back()}) +
                   per_element * out[0].elements();
        });
}

}  // namespace dtnn::compiler
