#include <fmt/format.h>

#include "compiler/ops/elementwise/channel_gate.hpp"
#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {
namespace {

void multiply_shape(ShapeContext& c) {
    if (c.inputs().size() < 2) {
        c.fail("multiply needs at least 2 inputs, got 1");
        return;
    }
    if (const auto image = gated_image(c.inputs())) {
        result_like(c, *image);
        return;
    }
    for (std::size_t i = 1; i < c.inputs().size(); ++i) {
        if (c.input(i).dims == c.input(0).dims) continue;
        c.fail(
            fmt::format("multiply needs inputs of one shape, but input 1 is {} and input {} is {}",
                        sample_text(c.input(0)), i + 1, sample_text(c.input(i))),
            "give all inputs the same channels, height and width; of two inputs one may have "
            "one number per channel of the other");
        return;
    }
    if (expect_same_types(c, "multiply")) result_like(c);
}

/// diff_i = diff times the other operands.
void multiply_gradient(GradientContext& g) {
    const std::size_t operands = g.node().inputs.size();
    for (std::size_t i = 0; i < operands; ++i) {
        if (!g.wants(i)) continue;
        ValueList factors{g.diff(0)};
        for (std::size_t j = 0; j < operands; ++j)
            if (j != i) factors.push_back(g.input(j));
        const std::string product = chain_of("mul", factors.size());
        g.set(i,
              g.emit("elementwise", std::move(factors), {{"expression", product}}, "diff_src")[0]);
    }
}

}  // namespace

/// With a gate, which canonicalize makes channel_scale, it has no gradient of its own.
OpDef define_multiply() {
    OpBuilder builder("multiply");
    builder.family(Family::join)
        .kernel_class(expression_class)
        .general_form([](const Graph& graph, Node node) -> std::vector<Node> {
            std::vector<Type> types;
            for (const ValueId input : node.inputs)
                types.push_back(graph.type(input));
            const auto image = gated_image(types);
            if (!image) return {};
            node.op = "channel_scale";
            if (*image == 1) std::swap(node.inputs[0], node.inputs[1]);
            return {std::move(node)};
        })
        .does_nothing(has_one_operand)
        .doc(
            "The product of its inputs, element by element; all have one shape, or one of two has "
            "one number for each channel of the other (Hu, Shen and Sun, 2018).")
        .layer("- multiply: {from: [conv2d_1, conv2d_2]}")
        .variadic(2)
        .inputs({"src"})
        .outputs({"dst"})
        .expression("x0 x1 mul")
        .expression_rule([](const Node& node) { return chain_of("mul", node.inputs.size()); })
        .shape(multiply_shape)
        .gradient(multiply_gradient)
        .flops([](const std::vector<Type>& in, const std::vector<Type>& out, const Attributes&) {
            return std::int64_t(in.size() - 1) * out[0].elements();
        });
    in_place_over_all(builder);
    return builder;
}

}  // namespace dtnn::compiler
