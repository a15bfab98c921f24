#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/gradient.hpp has the formula. The result overwrites the sum, always.
OpDef define_accumulate_gradient() {
    return OpBuilder("accumulate_gradient")
        .family(Family::update)
        .kernel_class(KernelClass::memory)
        .doc("Adds a batch's gradient to the sum for a later update.")
        .inputs({"sum", "diff"})
        .outputs({"sum"})
        .shape([](ShapeContext& c) {
            if (!expect_operands(c, "accumulate_gradient", 2)) return;
            if (!expect_dims(c, "accumulate_gradient", 1, "diff", c.input(0).dims)) return;
            result_like(c);
        })
        .no_gradient(kUpdatesAreFinal)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        })
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
