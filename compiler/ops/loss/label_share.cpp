#include <algorithm>

#include "compiler/ops/loss/loss.hpp"
#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// share = batch_weight * (the mean over labels of class_weights[label]), one number of
/// batch_weight's type. Of all batches of an update these shares are to each other as the weights
/// of their labels are: a gradient times its batch's share, divided by the sum of the shares, adds
/// up to the gradient of the weighted mean over all labels.
OpDef define_label_share() {
    return OpBuilder("label_share")
        .family(Family::loss)
        .kernel_class(KernelClass::memory)
        .doc("A batch's share in an update, by the weights of its labels.")
        .shape([](ShapeContext& c) {
            if (!expect_labels(c, "label_share")) return;
            const DType dtype = c.input(1).dtype;
            if (!expect_single(c, "batch_weight", dtype)) return;
            const auto classes = std::int64_t(class_weights(c.attributes()).size());
            if (expect_class_weights(c, "label_share", std::max<std::int64_t>(classes, 1), true))
                c.result({dtype, {1}, {}});
        })
        .no_gradient("labels are integers")
        .flops(flops_per_number(1));
}

}  // namespace dtnn::compiler
