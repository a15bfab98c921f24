#include "compiler/ops/loss.hpp"

namespace dtnn::compiler {

/// loss = mean over samples of -log(max(probability of the label, epsilon)). Behind a softmax,
/// canonicalisation makes both softmax_cross_entropy, which is stable.
OpDef define_categorical_cross_entropy() {
    return OpBuilder("categorical_cross_entropy")
        .doc("Mean negative logarithm of the probability that was predicted for the label.")
        .inputs({"probabilities", "labels"})
        .outputs({"loss"})
        .shape([](ShapeContext& c) {
            if (!expect_rows_and_labels(c, "categorical_cross_entropy")) return;
            fallback(c, "epsilon", 1e-8);
            result_scalar(c);
        })
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            g.set(0, g.emit("categorical_cross_entropy_backward", {g.input(0), g.input(1)},
                            pick(g.node().attributes, {"epsilon"}), "diff_predictions")[0]);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return 3 * in[0].dims[0];
        });
}

}  // namespace dtnn::compiler
