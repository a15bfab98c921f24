#include <fmt/format.h>

#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {
namespace {

constexpr const char* kExpression = "x0 x0 sigmoid mul x1 mul";

}  // namespace

/// dst = x0 * sigmoid(x0) * x1.
OpDef define_swiglu() {
    OpBuilder builder("swiglu");
    builder.family(Family::join)
        .kernel_class(expression_class)
        .doc(
            "The product of two inputs, the first of them through silu: a gate of a dense layer "
            "for another (Shazeer, 2020).")
        .layer("- swiglu: {from: [conv2d_1, conv2d_2]}")
        .variadic(2)
        .inputs({"src"})
        .outputs({"dst"})
        .expression(kExpression)
        .shape([](ShapeContext& c) {
            if (c.inputs().size() != 2) {
                c.fail(fmt::format("swiglu reads two layers, and this one reads {}",
                                   c.inputs().size()),
                       "`from: [gate, value]`");
                return;
            }
            if (c.input(0).dims != c.input(1).dims) {
                c.fail(fmt::format("swiglu needs inputs of one shape, but the gate is {} and the "
                                   "value is {}",
                                   sample_text(c.input(0)), sample_text(c.input(1))),
                       "give both the same number of units");
                return;
            }
            if (expect_same_types(c, "swiglu")) result_like(c);
        })
        .general_form([](const Graph&, const Node& node) {
            return becomes(node, "elementwise", {{"expression", std::string(kExpression)}});
        })
        .no_gradient("abstract: canonicalize makes it elementwise before differentiation")
        .flops([](const std::vector<Type>&, const std::vector<Type>& out, const Attributes&) {
            return flops(parse_postfix(kExpression)) * out[0].elements();
        });
    in_place_over_all(builder);
    return builder;
}

}  // namespace dtnn::compiler
