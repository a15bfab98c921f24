#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/gradient.hpp has the formula. A node of the backward part: the gradient need
/// not be one of parameters.
OpDef define_weigh_gradient() {
    return operator_by_signature("weigh_gradient")
        .family(Family::update)
        .kernel_class(KernelClass::memory)
        .doc("A gradient times the batch's share of an update.")
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        })
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
