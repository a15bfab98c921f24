#include <algorithm>

#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {

/// weight = the sum over rows of class_weights[label], f64: what a weighted mean over rows is
/// divided by, and so its share in the mean over all batches.
OpDef define_label_weights() {
    return OpBuilder("label_weights")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .doc("Sum of the weights of the labels' classes.")
        .shape([](ShapeContext& c) {
            if (!expect_labels(c, "label_weights")) return;
            const auto classes = std::int64_t(class_weights(c.attributes()).size());
            if (expect_class_weights(c, "label_weights", std::max<std::int64_t>(classes, 1), true))
                result_sum(c);
        })
        .no_gradient("labels are integers")
        .flops(flops_per_number(1));
}

}  // namespace dtnn::compiler
