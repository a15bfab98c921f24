#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/gradient.hpp has the formula. The first result, zeros, overwrites the sum,
/// always; the total may overwrite the gradient.
OpDef define_take_gradient_sum() {
    return operator_by_signature("take_gradient_sum")
        .family(Family::update)
        .kernel_class(KernelClass::memory)
        .doc("The gradient of all batches of an update, out of the sum, which begins anew.")
        .no_gradient(kUpdatesAreFinal)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        })
        .joins()
        .in_place(0, 0)
        .in_place(1, 1);
}

}  // namespace dtnn::compiler
