#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {

/// loss = mean over rows of -log(max(probability of the label, epsilon)); smoothing, class_weights
/// and rows of targets: see kernels/arguments/loss.hpp. Behind a softmax, canonicalisation makes
/// both softmax_cross_entropy, which is stable.
OpDef define_categorical_cross_entropy() {
    return OpBuilder("categorical_cross_entropy")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .attribute("epsilon", 1e-8)
        .attribute("smoothing", 0.0)
        .doc("Mean negative logarithm of the probability that was predicted for the label.")
        .shape([](ShapeContext& c) {
            if (!expect_rows_and_labels(c, "categorical_cross_entropy")) return;
            if (!expect_class_weights(c, "categorical_cross_entropy", c.input(0).dims[1])) return;
            fallback(c, "epsilon");
            result_scalar(c);
        })
        .gradient(gradient_by_rows("categorical_cross_entropy_backward", "diff_predictions"))
        .flops(flops_per_number(1));
}

}  // namespace dtnn::compiler
