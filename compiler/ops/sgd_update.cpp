#include "compiler/ops/optimizer.hpp"

namespace dtnn::compiler {

/// g = diff + weight_decay*w; v' = momentum*v + g; w' = w - lr * (nesterov ? g + momentum*v' : v');
/// without momentum w' = w - lr*g (the formulas of PyTorch's SGD). The results overwrite weights
/// and velocity, always.
OpDef define_sgd_update() {
    return OpBuilder("sgd_update")
        .doc(
            "A step of stochastic gradient descent, with momentum, Nesterov's variant and weight "
            "decay.")
        .inputs({"weights", "diff", "learning_rate", "velocity?"})
        .outputs({"weights", "velocity?"})
        .shape([](ShapeContext& c) {
            const bool momentum = real_or_zero(c.attributes(), "momentum") > 0;
            if (!expect_operands(c, "sgd_update", momentum ? 4 : 3)) return;
            if (!expect_like_weights(c, "sgd_update", 1, "diff")) return;
            if (!expect_single(c, "sgd_update", 2, "learning_rate", c.input(0).dtype)) return;
            if (momentum && !expect_like_weights(c, "sgd_update", 3, "velocity")) return;
            result_like(c);
            if (momentum) result_like(c, 3);
        })
        .no_gradient(kUpdatesAreFinal)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (2 + (real_or_zero(a, "momentum") > 0 ? 2 : 0) + (flag(a, "nesterov") ? 2 : 0) +
                    (real_or_zero(a, "weight_decay") > 0 ? 2 : 0)) *
                   in[0].elements();
        })
        .in_place(0, 0)
        .in_place(1, 3);
}

}  // namespace dtnn::compiler
