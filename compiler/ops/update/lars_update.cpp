#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/layerwise_update.hpp has the formula. The results overwrite weights and
/// velocity, always.
OpDef define_lars_update() {
    return update_operator("lars_update")
        .attribute("momentum", 0.9)
        .attribute("trust_coefficient", 1e-3)
        .attribute("epsilon", 0.0)
        .attribute("adaptive", true)
        .doc("A step of LARS: momentum with a rate for every parameter, by its norms.")
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (9 + common_update_flops(a)) * in[0].elements();
        })
        .in_place(0, 0)
        .in_place(1, 3);
}

}  // namespace dtnn::compiler
