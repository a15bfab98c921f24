#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/gradient.hpp has the formula. The result overwrites the average, always.
OpDef define_moving_average() {
    return operator_by_signature("moving_average")
        .family(Family::update)
        .kernel_class(KernelClass::memory)
        .doc("The exponential moving average of a parameter, after its update.")
        .no_gradient(kUpdatesAreFinal)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return 3 * in[0].elements();
        })
        .joins()
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
