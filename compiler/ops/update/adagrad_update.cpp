#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/update.hpp has the formula. The results overwrite weights and sum, always.
OpDef define_adagrad_update() {
    return update_operator("adagrad_update")
        .attribute("epsilon", 1e-10)
        .attribute("learning_rate_decay", 0.0)
        .doc("A step of AdaGrad.")
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (7 + common_update_flops(a)) * in[0].elements();
        })
        .joins()
        .in_place(0, 0)
        .in_place(1, 4);
}

}  // namespace dtnn::compiler
