#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/gradient.hpp has the formula. The result overwrites the sum, always.
OpDef define_accumulate_gradient() {
    return operator_by_signature("accumulate_gradient")
        .family(Family::update)
        .kernel_class(KernelClass::memory)
        .doc("Adds a batch's gradient to the sum for a later update.")
        .no_gradient(kUpdatesAreFinal)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        })
        .joins()
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
