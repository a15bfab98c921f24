#include "compiler/ops/loss.hpp"

namespace dtnn::compiler {

/// accuracy = the fraction of samples whose largest prediction (the first of equals) is the label.
OpDef define_categorical_accuracy() {
    return OpBuilder("categorical_accuracy")
        .doc("Fraction of the batch whose largest prediction is the label.")
        .inputs({"predictions", "labels"})
        .outputs({"accuracy"})
        .shape([](ShapeContext& c) {
            if (!expect_rows_and_labels(c, "categorical_accuracy")) return;
            result_scalar(c);
        })
        .no_gradient("a metric: constant almost everywhere")
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        });
}

}  // namespace dtnn::compiler
