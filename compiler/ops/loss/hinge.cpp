#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {

/// With the label's number y: loss = mean over rows of max(0, margin - y + the largest of the
/// others) (form "largest": Crammer and Singer, 2001), or of the sum over the others of max(0,
/// margin - y + x) / C (form "all": Weston and Watkins, 1999, as torch.nn.MultiMarginLoss). With
/// `sum` the sum over rows, f64.
OpDef define_hinge() {
    return OpBuilder("hinge")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .attribute("margin", 1.0)
        .attribute("form", std::string("largest"))
        .doc("How far the label's number is from a margin above the others.")
        .shape([](ShapeContext& c) {
            if (!expect_rows_and_labels(c, "hinge")) return;
            fallback(c, "margin");
            fallback(c, "form");
            if (flag(c.attributes(), "sum"))
                result_sum(c);
            else
                result_scalar(c);
        })
        .gradient(gradient_by_rows("hinge_backward", "diff_predictions"))
        .flops(flops_per_number(2));
}

}  // namespace dtnn::compiler
