#include "base/tensor/recurrent_parts.hpp"
#include "compiler/ops/recurrent/next_cell.hpp"
#include "compiler/ops/recurrent/recurrent.hpp"

namespace dtnn::compiler {
namespace {

void next_of_rnn(StepContext& c) {
    NextCell cell(c, kRnnParts);
    if (cell.refused()) return;
    const ValueId state = cell.kept("state");
    const ValueId next = cell.formula("x0 x1 add tanh", {c.input(0), cell.product(state)}, "dst");
    c.keep(state, next);
    c.set(next);
}

}  // namespace

/// kernels/arguments/recurrent.hpp
OpDef define_rnn_steps() {
    return recurrent_steps("rnn_steps", kRnnParts, 0)
        .doc("The cells of rnn over all steps, behind the product of the steps.")
        .next_step(next_of_rnn)
        .carries({{"state", 0}})
        .gradient([](GradientContext& g) {
            if (!g.diff(0).valid()) return;
            const ValueId diff = g.emit("rnn_steps_backward", {g.output(0), g.input(1), g.diff(0)},
                                        pick(g.node().attributes, {"reversed"}), "diff_src")[0];
            g.set(0, diff);
            set_weights_gradient(g, diff);
        });
}

}  // namespace dtnn::compiler
