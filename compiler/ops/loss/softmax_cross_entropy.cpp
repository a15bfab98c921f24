#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {

/// loss = mean over rows of log(sum_c exp(logits_c - max)) - (logits_label - max); probabilities =
/// softmax(logits). Never overflows, and never takes the logarithm of a rounded zero. smoothing,
/// class_weights and rows of targets: see kernels/arguments/loss.hpp.
OpDef define_softmax_cross_entropy() {
    return OpBuilder("softmax_cross_entropy")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .attribute("smoothing", 0.0)
        .doc("Softmax and categorical cross-entropy together, numerically stable.")
        .shape([](ShapeContext& c) {
            if (!expect_rows_and_labels(c, "softmax_cross_entropy")) return;
            if (!expect_class_weights(c, "softmax_cross_entropy", c.input(0).dims[1])) return;
            result_scalar(c);
            result_like(c);
        })
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            g.set(0, g.emit("softmax_cross_entropy_backward", {g.output(1), g.input(1)},
                            g.node().attributes, "diff_logits")[0]);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return 5 * in[0].elements() + 3 * in[0].dims[0];
        })
        .in_place(1, 0);
}

}  // namespace dtnn::compiler
