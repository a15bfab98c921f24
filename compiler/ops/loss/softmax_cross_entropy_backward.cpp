#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {

/// diff_logits = (probabilities * sum of w q - w q) / D: of plain labels (probabilities - (c ==
/// label)) / N.
OpDef define_softmax_cross_entropy_backward() {
    return OpBuilder("softmax_cross_entropy_backward")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .attribute("smoothing", 0.0)
        .doc("Gradient of softmax_cross_entropy by the logits.")
        .shape([](ShapeContext& c) {
            if (!expect_rows_and_labels(c, "softmax_cross_entropy_backward")) return;
            if (!expect_class_weights(c, "softmax_cross_entropy_backward", c.input(0).dims[1]))
                return;
            result_like(c);
        })
        .no_gradient(kNoSecondDerivative)
        .flops(flops_per_number(2))
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
