#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {

/// right = the number of rows whose largest prediction (the first of equals) is the label, f64. The
/// label of a row of targets is its largest share.
OpDef define_categorical_accuracy() {
    return OpBuilder("categorical_accuracy")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .reads_order_only()
        .doc("Number of rows whose largest prediction is the label.")
        .shape([](ShapeContext& c) {
            if (expect_rows_and_labels(c, "categorical_accuracy")) result_sum(c);
        })
        .no_gradient(kMetricIsFlat)
        .flops(flops_per_number(1));
}

}  // namespace dtnn::compiler
