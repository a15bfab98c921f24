#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/update.hpp has the formulas. The results overwrite weights and states, always.
OpDef define_nadam_update() {
    return update_operator("nadam_update")
        .attribute("beta1", 0.9)
        .attribute("beta2", 0.999)
        .attribute("epsilon", 1e-8)
        .attribute("momentum_decay", 0.004)
        .doc("A step of NAdam: Adam with Nesterov's momentum.")
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (15 + common_update_flops(a)) * in[0].elements();
        })
        .joins()
        .in_place(0, 0)
        .in_place(1, 4)
        .in_place(2, 5)
        .in_place(3, 6);
}

}  // namespace dtnn::compiler
