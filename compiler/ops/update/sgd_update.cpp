#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/update.hpp has the formula. The results overwrite weights and velocity,
/// always.
OpDef define_sgd_update() {
    return update_operator("sgd_update")
        .attribute("momentum", 0.0)
        .doc(
            "A step of stochastic gradient descent, with momentum, Nesterov's variant and weight "
            "decay.")
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (2 + (real_or_zero(a, "momentum") > 0 ? 2 : 0) + (flag(a, "nesterov") ? 2 : 0) +
                    common_update_flops(a)) *
                   in[0].elements();
        })
        .joins()
        .in_place(0, 0)
        .in_place(1, 3);
}

}  // namespace dtnn::compiler
