#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/gradient.hpp has the formula. The result overwrites the average, always.
OpDef define_moving_average() {
    return OpBuilder("moving_average")
        .family(Family::update)
        .kernel_class(KernelClass::memory)
        .doc("The exponential moving average of a parameter, after its update.")
        .inputs({"average", "weights"})
        .outputs({"average"})
        .shape([](ShapeContext& c) {
            if (!expect_operands(c, "moving_average", 2)) return;
            if (!expect_dims(c, "moving_average", 1, "weights", c.input(0).dims)) return;
            result_like(c);
        })
        .no_gradient(kUpdatesAreFinal)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return 3 * in[0].elements();
        })
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
