#include "compiler/ops/loss.hpp"

namespace dtnn::compiler {

/// diff = 2 * (predictions - targets) / elements.
OpDef define_mean_squared_error_backward() {
    return OpBuilder("mean_squared_error_backward")
        .doc("Gradient of mean_squared_error by the predictions.")
        .inputs({"predictions", "targets"})
        .outputs({"diff"})
        .shape([](ShapeContext& c) {
            if (!expect_operands(c, "mean_squared_error_backward", 2)) return;
            if (!expect_dims(c, "mean_squared_error_backward", 1, "targets", c.input(0).dims))
                return;
            result_like(c);
        })
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return 2 * in[0].elements();
        })
        .in_place(0, 0)
        .in_place(0, 1);
}

}  // namespace dtnn::compiler
