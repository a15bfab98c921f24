#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// In double whatever the operand's type, so that no sum overflows. kernels/arguments/gradient.hpp
/// has the formula.
OpDef define_gradient_square_sum() {
    return OpBuilder("gradient_square_sum")
        .family(Family::update)
        .kernel_class(KernelClass::memory)
        .doc("The sum of the squares of a gradient's elements.")
        .shape([](ShapeContext& c) {
            c.result({DType::f64, {}, {}});
        })
        .no_gradient(kUpdatesAreFinal)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return 2 * in[0].elements();
        });
}

}  // namespace dtnn::compiler
