#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// kernels/arguments/gradient.hpp has the formula. A node of the backward part: the gradient need
/// not be one of parameters.
OpDef define_weigh_gradient() {
    return OpBuilder("weigh_gradient")
        .family(Family::update)
        .kernel_class(KernelClass::memory)
        .doc("A gradient times the batch's share of an update.")
        .inputs({"diff", "batch_weight"})
        .outputs({"dst"})
        .shape([](ShapeContext& c) {
            if (!expect_operands(c, "weigh_gradient", 2)) return;
            if (!expect_single(c, "weigh_gradient", 1, "batch_weight", c.input(0).dtype)) return;
            result_like(c);
        })
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        })
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
