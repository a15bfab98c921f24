#include "base/tensor/recurrent_parts.hpp"
#include "compiler/ops/axis.hpp"
#include "compiler/ops/recurrent/next_cell.hpp"
#include "compiler/ops/recurrent/recurrent.hpp"

namespace dtnn::compiler {
namespace {

void next_of_gru(StepContext& c) {
    NextCell cell(c, kGruParts);
    if (cell.refused()) return;
    const ValueId state = cell.kept("state"), product = cell.product(state), src = c.input(0);
    const ValueId q = cell.formula("x0 c1 add", {cell.part(product, 2), c.input(2)}, "q");
    const ValueId made =
        cell.formula("x0 x1 x2 add sigmoid x3 mul add tanh",
                     {cell.part(src, 2), cell.part(src, 0), cell.part(product, 0), q}, "made");
    const ValueId z =
        cell.formula("x0 x1 add sigmoid", {cell.part(src, 1), cell.part(product, 1)}, "z");
    const ValueId next = cell.formula("x0 x1 x2 x0 sub mul add", {made, z, state}, "dst");
    c.keep(state, next);
    c.set(next);
}

}  // namespace

/// kernels/arguments/recurrent.hpp
OpDef define_gru_steps() {
    return recurrent_steps("gru_steps", kGruParts, kGruGates)
        .doc("The cells of gru over all steps, behind the product of the steps.")
        .next_step(next_of_gru)
        .carries({{"state", 0}})
        .gradient([](GradientContext& g) {
            if (!g.diff(0).valid()) return;
            const ValueList diffs =
                g.emit("gru_steps_backward",
                       with_state(g, {g.output(1), g.output(0), g.input(1), g.diff(0)}, "state"),
                       pick(g.node().attributes, {"reversed", kCarried}), "diff_src");
            g.set(0, diffs[0]);
            set_weights_gradient(g, diffs[1]);
            if (!g.wants(2)) return;
            // What the bias goes to is the last part.
            const std::int64_t columns = g.graph().type(diffs[1]).dims[2];
            Attributes last{{"begin", columns / kGruParts * 2}, {"end", columns}};
            write_axis(last, 2);
            const ValueId part = g.emit("slice", {diffs[1]}, std::move(last), "part")[0];
            g.set(2, g.emit("channel_sums", {part}, {}, "diff_bias")[0]);
        });
}

}  // namespace dtnn::compiler
