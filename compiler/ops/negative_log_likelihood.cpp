#include "compiler/ops/loss.hpp"

namespace dtnn::compiler {

/// loss = mean over samples of -log_probabilities[label]. Behind a log_softmax, canonicalisation
/// makes both softmax_cross_entropy.
OpDef define_negative_log_likelihood() {
    return OpBuilder("negative_log_likelihood")
        .doc("Mean negative log-probability that was predicted for the label.")
        .inputs({"log_probabilities", "labels"})
        .outputs({"loss"})
        .shape([](ShapeContext& c) {
            if (!expect_rows_and_labels(c, "negative_log_likelihood")) return;
            result_scalar(c);
        })
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            g.set(0, g.emit("negative_log_likelihood_backward", {g.input(0), g.input(1)}, {},
                            "diff_predictions")[0]);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].dims[0];
        });
}

}  // namespace dtnn::compiler
