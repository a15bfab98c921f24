#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {

/// loss = mean over rows of -log_probabilities[label]; class_weights and rows of targets: see
/// kernels/arguments/loss.hpp. Behind a log_softmax, canonicalisation makes both
/// softmax_cross_entropy.
OpDef define_negative_log_likelihood() {
    return OpBuilder("negative_log_likelihood")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .doc("Mean negative log-probability that was predicted for the label.")
        .shape([](ShapeContext& c) {
            if (!expect_rows_and_labels(c, "negative_log_likelihood")) return;
            if (!expect_class_weights(c, "negative_log_likelihood", c.input(0).dims[1])) return;
            result_scalar(c);
        })
        .gradient(gradient_by_rows("negative_log_likelihood_backward", "diff_predictions"))
        .flops(flops_per_number(1));
}

}  // namespace dtnn::compiler
