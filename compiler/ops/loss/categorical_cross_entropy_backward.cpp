#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {

/// diff[n,c] = -w q / (D * max(p, epsilon)): of plain labels -1 / (N * max(p, epsilon)) where c is
/// the label, else 0.
OpDef define_categorical_cross_entropy_backward() {
    return OpBuilder("categorical_cross_entropy_backward")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .attribute("epsilon", 1e-8)
        .attribute("smoothing", 0.0)
        .doc("Gradient of categorical_cross_entropy.")
        .shape([](ShapeContext& c) {
            if (!expect_rows_and_labels(c, "categorical_cross_entropy_backward")) return;
            if (!expect_class_weights(c, "categorical_cross_entropy_backward", c.input(0).dims[1]))
                return;
            fallback(c, "epsilon");
            result_like(c);
        })
        .no_gradient(kNoSecondDerivative)
        .flops(flops_per_number(1))
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
