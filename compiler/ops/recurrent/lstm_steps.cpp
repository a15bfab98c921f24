#include "base/tensor/recurrent_parts.hpp"
#include "compiler/ops/recurrent/next_cell.hpp"
#include "compiler/ops/recurrent/recurrent.hpp"

namespace dtnn::compiler {
namespace {

void next_of_lstm(StepContext& c) {
    NextCell cell(c, kLstmParts);
    if (cell.refused()) return;
    const ValueId state = cell.kept("state"), memory = cell.kept("cells");
    const ValueId sums = cell.formula("x0 x1 add", {c.input(0), cell.product(state)}, "sums");
    const ValueId in = cell.part(sums, 0), forget = cell.part(sums, 1), made = cell.part(sums, 2),
                  out = cell.part(sums, 3);
    const ValueId remembered = cell.formula("x0 sigmoid x1 mul x2 sigmoid x3 tanh mul add",
                                            {forget, memory, in, made}, "next_cells");
    const ValueId next = cell.formula("x0 sigmoid x1 tanh mul", {out, remembered}, "dst");
    c.keep(memory, remembered);
    c.keep(state, next);
    c.set(next);
}

}  // namespace

/// kernels/arguments/recurrent.hpp
OpDef define_lstm_steps() {
    return recurrent_steps("lstm_steps", kLstmParts, kLstmParts)
        .doc("The cells of lstm over all steps, behind the product of the steps.")
        .next_step(next_of_lstm)
        .carries({{"state", 0}, {"cells_before", 2}})
        .gradient([](GradientContext& g) {
            if (!g.diff(0).valid()) return;
            const ValueId diff = g.emit(
                "lstm_steps_backward",
                with_state(g, {g.output(1), g.output(2), g.input(1), g.diff(0)}, "cells_before"),
                pick(g.node().attributes, {"reversed", kCarried}), "diff_src")[0];
            g.set(0, diff);
            set_weights_gradient(g, diff);
        });
}

}  // namespace dtnn::compiler
