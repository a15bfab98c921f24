#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/layerwise_update.hpp has the formula. The results overwrite weights and
/// moments, always.
OpDef define_lamb_update() {
    return update_operator("lamb_update")
        .attribute("beta1", 0.9)
        .attribute("beta2", 0.999)
        .attribute("epsilon", 1e-6)
        .attribute("adaptive", true)
        .doc("A step of LAMB: Adam's direction with a rate for every parameter, by its norms.")
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            // The change is made twice: for its norm and for the weights.
            return (24 + 2 * common_update_flops(a)) * in[0].elements();
        })
        .in_place(0, 0)
        .in_place(1, 4)
        .in_place(2, 5);
}

}  // namespace dtnn::compiler
