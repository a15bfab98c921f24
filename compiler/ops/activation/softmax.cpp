#include "compiler/ops/channel_axis.hpp"

namespace dtnn::compiler {

/// dst_i = exp(src_i - max) / sum_j exp(src_j - max) along the channels.
OpDef define_softmax() {
    return OpBuilder("softmax")
        .family(Family::activation)
        .kernel_class(KernelClass::memory)
        .doc("Normalised exponentials along one axis: positive numbers that sum to 1.")
        .layer("- softmax")
        .gives(plan::Prediction::probabilities)
        .inputs({"src"})
        .outputs({"dst"})
        .field(axis_field("axis of normalisation"))
        .shape([](ShapeContext& c) {
            if (!expect_operands(c, "softmax", 1) || !expect_channel_axis(c, "softmax")) return;
            result_like(c);
        })
        // diff_src = dst * (diff_dst - sum(diff_dst * dst)): only dst is kept.
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            g.set(0, g.emit("softmax_backward", {g.output(0), g.diff(0)},
                            pick(g.node().attributes, {"axis"}), "diff_src")[0]);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return 5 * in[0].elements();
        })
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
