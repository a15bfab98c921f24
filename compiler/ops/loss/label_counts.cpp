#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {

/// counts[c] = the rows that are true negatives, false positives, false negatives and true
/// positives of class c, where a row has any number of classes: predicted above `threshold`, true
/// above 0.5.
OpDef define_label_counts() {
    return OpBuilder("label_counts")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .attribute("threshold", 0.5)
        .doc("True and false negatives and positives of every class.")
        .shape([](ShapeContext& c) {
            if (c.input(1).dtype == DType::i32) {
                c.fail("label_counts: targets must be like the predictions");
                return;
            }
            if (!expect_rows_and_labels(c, "label_counts")) return;
            fallback(c, "threshold");
            c.result(Type{DType::i64, {c.input(0).dims[1], 4}, {}});
        })
        .no_gradient(kMetricIsFlat)
        .flops(flops_per_number(2));
}

}  // namespace dtnn::compiler
