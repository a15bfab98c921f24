#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {

/// pairs[n] = (label, place of the largest prediction): a confusion matrix in a form whose size
/// does not grow with the square of the classes.
OpDef define_class_pairs() {
    return OpBuilder("class_pairs")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .reads_order_only()
        .doc("The label and the predicted class of every row.")
        .shape([](ShapeContext& c) {
            if (expect_rows_and_labels(c, "class_pairs"))
                c.result(Type{DType::i32, {c.input(0).dims[0], 2}, {}});
        })
        .no_gradient(kMetricIsFlat)
        .flops(flops_per_number(1));
}

}  // namespace dtnn::compiler
