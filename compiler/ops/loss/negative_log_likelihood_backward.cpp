#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {

/// diff[n,c] = -w q / D: of plain labels -1 / N where c is the label, else 0.
OpDef define_negative_log_likelihood_backward() {
    return OpBuilder("negative_log_likelihood_backward")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .doc("Gradient of negative_log_likelihood.")
        .shape([](ShapeContext& c) {
            if (!expect_rows_and_labels(c, "negative_log_likelihood_backward")) return;
            if (!expect_class_weights(c, "negative_log_likelihood_backward", c.input(0).dims[1]))
                return;
            result_like(c);
        })
        .no_gradient(kNoSecondDerivative)
        .flops(flops_per_number(1))
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
