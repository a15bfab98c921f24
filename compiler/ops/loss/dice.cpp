#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {

/// loss = mean over groups of 1 - (2 sum p t + smooth) / (sum p + sum t + smooth). A group is a
/// class over the `pixels` rows of a sample, or with pixels 0 a row (Milletari et al., 2016, with
/// sums of p and t as they are, not of their squares).
OpDef define_dice() {
    return OpBuilder("dice")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .attribute("smooth", 1.0)
        .attribute("pixels", std::int64_t{0})
        .doc("One less the overlap of what was predicted and what should be.")
        .shape([](ShapeContext& c) {
            if (!expect_rows_and_labels(c, "dice")) return;
            fallback(c, "smooth");
            fallback(c, "pixels");
            const std::int64_t pixels = c.integer("pixels");
            if (pixels < 0 || (pixels > 0 && c.input(0).dims[0] % pixels != 0)) {
                c.fail("dice: the rows are not a number of samples of that many pixels", "",
                       "pixels");
                return;
            }
            result_scalar(c);
        })
        .gradient(gradient_by_rows("dice_backward", "diff_predictions"))
        .flops(flops_per_number(4));
}

}  // namespace dtnn::compiler
