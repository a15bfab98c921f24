#include "compiler/ops/loss.hpp"

namespace dtnn::compiler {

/// diff_logits[n,c] = (probabilities[n,c] - (c == label ? 1 : 0)) / N.
OpDef define_softmax_cross_entropy_backward() {
    return OpBuilder("softmax_cross_entropy_backward")
        .doc("Gradient of softmax_cross_entropy by the logits.")
        .inputs({"probabilities", "labels"})
        .outputs({"diff_logits"})
        .shape([](ShapeContext& c) {
            if (!expect_rows_and_labels(c, "softmax_cross_entropy_backward")) return;
            result_like(c);
        })
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements() + in[0].dims[0];
        })
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
