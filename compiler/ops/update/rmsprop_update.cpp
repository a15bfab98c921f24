#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/update.hpp has the formula. The results overwrite weights and states, always.
OpDef define_rmsprop_update() {
    return update_operator("rmsprop_update")
        .attribute("rho", 0.99)
        .attribute("epsilon", 1e-8)
        .attribute("momentum", 0.0)
        .doc("A step of RMSProp, with momentum, centring and weight decay.")
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (9 + (flag(a, "centered") ? 5 : 0) + (real_or_zero(a, "momentum") > 0 ? 2 : 0) +
                    common_update_flops(a)) *
                   in[0].elements();
        })
        .joins()
        .in_place(0, 0)
        .in_place(1, 3)
        .in_place(2, 4)
        .in_place(3, 5);
}

}  // namespace dtnn::compiler
