#include "base/tensor/recurrent_parts.hpp"
#include "compiler/ops/recurrent/recurrent.hpp"

namespace dtnn::compiler {

/// kernels/arguments/recurrent.hpp
OpDef define_lstm_steps() {
    return recurrent_steps("lstm_steps", kLstmParts, kLstmParts)
        .doc("The cells of lstm over all steps, behind the product of the steps.")
        .gradient([](GradientContext& g) {
            if (!g.diff(0).valid()) return;
            const ValueId diff =
                g.emit("lstm_steps_backward", {g.output(1), g.output(2), g.input(1), g.diff(0)},
                       pick(g.node().attributes, {"reversed"}), "diff_src")[0];
            g.set(0, diff);
            set_weights_gradient(g, diff);
        });
}

}  // namespace dtnn::compiler
