#include "base/tensor/recurrent_parts.hpp"
#include "compiler/ops/axis.hpp"
#include "compiler/ops/recurrent/recurrent.hpp"

namespace dtnn::compiler {

/// kernels/arguments/recurrent.hpp
OpDef define_gru_steps() {
    return recurrent_steps("gru_steps", kGruParts, kGruGates)
        .doc("The cells of gru over all steps, behind the product of the steps.")
        .gradient([](GradientContext& g) {
            if (!g.diff(0).valid()) return;
            const ValueList diffs =
                g.emit("gru_steps_backward", {g.output(1), g.output(0), g.input(1), g.diff(0)},
                       pick(g.node().attributes, {"reversed"}), "diff_src");
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
