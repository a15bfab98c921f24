#include "compiler/ops/optimizer.hpp"

namespace dtnn::compiler {

/// With t = step + 1: g = diff + weight_decay*w; m' = beta1*m + (1-beta1)*g; v' = beta2*v +
/// (1-beta2)*g*g; w' = w - lr * (m'/(1-beta1^t)) / (sqrt(v'/(1-beta2^t)) + epsilon) (Kingma and Ba,
/// 2015; PyTorch's formulas). The results overwrite weights and moments, always.
OpDef define_adam_update() {
    return OpBuilder("adam_update")
        .doc("A step of Adam.")
        .inputs({"weights", "diff", "learning_rate", "step", "first_moment", "second_moment"})
        .outputs({"weights", "first_moment", "second_moment"})
        .shape([](ShapeContext& c) {
            if (!expect_operands(c, "adam_update", 6)) return;
            if (!expect_like_weights(c, "adam_update", 1, "diff")) return;
            if (!expect_single(c, "adam_update", 2, "learning_rate", c.input(0).dtype)) return;
            if (!expect_single(c, "adam_update", 3, "step", DType::i64)) return;
            if (!expect_like_weights(c, "adam_update", 4, "first_moment")) return;
            if (!expect_like_weights(c, "adam_update", 5, "second_moment")) return;
            result_like(c, 0);
            result_like(c, 4);
            result_like(c, 5);
        })
        .no_gradient(kUpdatesAreFinal)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (13 + (real_or_zero(a, "weight_decay") > 0 ? 2 : 0)) * in[0].elements();
        })
        .in_place(0, 0)
        .in_place(1, 4)
        .in_place(2, 5);
}

}  // namespace dtnn::compiler
