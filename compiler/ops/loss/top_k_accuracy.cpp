#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {

/// right = the number of rows in which fewer than k predictions come before the label's: greater
/// ones, and equal ones further left. f64.
OpDef define_top_k_accuracy() {
    return OpBuilder("top_k_accuracy")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .attribute("k", std::int64_t{5})
        .reads_order_only()
        .doc("Number of rows whose label is among the k largest predictions.")
        .shape([](ShapeContext& c) {
            if (!expect_rows_and_labels(c, "top_k_accuracy")) return;
            fallback(c, "k");
            if (c.integer("k") < 1) {
                c.fail("top_k_accuracy: k must be at least 1", "", "k");
                return;
            }
            result_sum(c);
        })
        .no_gradient(kMetricIsFlat)
        .flops(flops_per_number(2));
}

}  // namespace dtnn::compiler
