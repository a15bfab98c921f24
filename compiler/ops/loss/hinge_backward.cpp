#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {

/// The slopes of hinge: where its maximum is above 0, 1 at the largest other number (form "all": at
/// each such number, over C) and minus their sum at the label, over N.
OpDef define_hinge_backward() {
    return OpBuilder("hinge_backward")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .attribute("margin", 1.0)
        .attribute("form", std::string("largest"))
        .doc("Gradient of hinge.")
        .shape([](ShapeContext& c) {
            if (!expect_rows_and_labels(c, "hinge_backward")) return;
            fallback(c, "margin");
            fallback(c, "form");
            result_like(c);
        })
        .no_gradient(kNoSecondDerivative)
        .flops(flops_per_number(2))
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
