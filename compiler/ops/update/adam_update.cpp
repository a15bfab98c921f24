#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/update.hpp has the formula. The results overwrite weights and moments, always.
OpDef define_adam_update() {
    return update_operator("adam_update")
        .attribute("beta1", 0.9)
        .attribute("beta2", 0.999)
        .attribute("epsilon", 1e-8)
        .doc("A step of Adam or AdamW, and of AMSGrad.")
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (13 + (flag(a, "amsgrad") ? 1 : 0) + common_update_flops(a)) * in[0].elements();
        })
        .joins()
        .in_place(0, 0)
        .in_place(1, 4)
        .in_place(2, 5)
        .in_place(3, 6);
}

}  // namespace dtnn::compiler
