#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {

/// diff = (-2 t / b + (2 sum p t + smooth) / b^2) / groups, b = sum p + sum t + smooth.
OpDef define_dice_backward() {
    return OpBuilder("dice_backward")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .attribute("smooth", 1.0)
        .attribute("pixels", std::int64_t{0})
        .doc("Gradient of dice.")
        .shape([](ShapeContext& c) {
            if (!expect_rows_and_labels(c, "dice_backward")) return;
            fallback(c, "smooth");
            fallback(c, "pixels");
            const std::int64_t pixels = c.integer("pixels");
            if (pixels < 0 || (pixels > 0 && c.input(0).dims[0] % pixels != 0)) {
                c.fail("dice_backward: the rows are not a number of samples of that many pixels",
                       "", "pixels");
                return;
            }
            result_like(c);
        })
        .no_gradient(kNoSecondDerivative)
        .flops(flops_per_number(6))
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
