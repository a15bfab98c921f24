#include "compiler/ops/loss.hpp"

namespace dtnn::compiler {

/// loss = mean over all elements of (predictions - targets)^2. Targets have no gradient.
OpDef define_mean_squared_error() {
    return OpBuilder("mean_squared_error")
        .doc("Mean of the squared differences.")
        .inputs({"predictions", "targets"})
        .outputs({"loss"})
        .shape([](ShapeContext& c) {
            if (!expect_operands(c, "mean_squared_error", 2)) return;
            if (!expect_dims(c, "mean_squared_error", 1, "targets", c.input(0).dims)) return;
            if (c.input(0).dtype != c.input(1).dtype) {
                c.fail("mean_squared_error: predictions and targets differ in dtype");
                return;
            }
            result_scalar(c);
        })
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            g.set(0, g.emit("mean_squared_error_backward", {g.input(0), g.input(1)}, {},
                            "diff_predictions")[0]);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return 3 * in[0].elements();
        });
}

}  // namespace dtnn::compiler
