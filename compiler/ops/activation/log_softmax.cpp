#include "compiler/ops/channel_axis.hpp"

namespace dtnn::compiler {

/// dst_i = (src_i - max) - log(sum_j exp(src_j - max)) along the channels.
OpDef define_log_softmax() {
    return OpBuilder("log_softmax")
        .family(Family::activation)
        .kernel_class(KernelClass::memory)
        .doc(
            "The logarithm of softmax, computed without taking the logarithm of a rounded zero; "
            "for the loss negative_log_likelihood.")
        .layer("- log_softmax")
        .gives(plan::Prediction::log_probabilities)
        .inputs({"src"})
        .outputs({"dst"})
        .field(axis_field("axis of normalisation"))
        .shape([](ShapeContext& c) {
            if (!expect_operands(c, "log_softmax", 1) || !expect_channel_axis(c, "log_softmax"))
                return;
            result_like(c);
        })
        // diff_src = diff_dst - exp(dst) * sum(diff_dst): only dst is kept.
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            g.set(0, g.emit("log_softmax_backward", {g.output(0), g.diff(0)},
                            pick(g.node().attributes, {"axis"}), "diff_src")[0]);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return 5 * in[0].elements();
        })
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
