#include <fmt/format.h>

#include "compiler/ir/printer.hpp"
#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {

/// The gradient of every operand is the gradient of the sum itself: no node is emitted.
OpDef define_add() {
    OpBuilder builder("add");
    builder.family(Family::join)
        .keeps_shifts()
        .kernel_class(expression_class)
        .does_nothing(has_one_operand)
        .doc("The sum of its inputs, element by element; all have one shape.")
        .layer("- add: {from: [conv2d_1, conv2d_2]}")
        .variadic(2)
        .inputs({"src"})
        .outputs({"dst"})
        .expression("x0 x1 add")
        .expression_rule([](const Node& node) { return chain_of("add", node.inputs.size()); })
        .shape([](ShapeContext& c) {
            if (c.inputs().size() < 2) {
                c.fail("add needs at least 2 inputs, got 1");
                return;
            }
            for (std::size_t i = 1; i < c.inputs().size(); ++i) {
                if (c.input(i).dims == c.input(0).dims) continue;
                c.fail(fmt::format(
                           "add needs inputs of one shape, but input 1 is {} and input {} is {}",
                           sample_text(c.input(0)), i + 1, sample_text(c.input(i))),
                       "give all inputs the same channels, height and width; a conv2d with kernel "
                       "1 changes channels, its stride the rest");
                return;
            }
            if (expect_same_types(c, "add")) result_like(c);
        })
        .gradient([](GradientContext& g) {
            for (std::size_t i = 0; i < g.node().inputs.size(); ++i)
                if (g.wants(i)) g.set(i, g.diff(0));
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>& out, const Attributes&) {
            return std::int64_t(in.size() - 1) * out[0].elements();
        });
    in_place_over_all(builder);
    return builder;
}

}  // namespace dtnn::compiler
