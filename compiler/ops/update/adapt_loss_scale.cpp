#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// Attributes: growth_interval, the updates after which the scale is doubled.
/// kernels/arguments/gradient.hpp has the formula.
OpDef define_adapt_loss_scale() {
    return OpBuilder("adapt_loss_scale")
        .family(Family::update)
        .kernel_class(KernelClass::memory)
        .doc(
            "What the loss is multiplied by from the next batch on: half where gradients "
            "overflowed, "
            "twice after many updates.")
        .shape([](ShapeContext& c) {
            const DType dtype = c.input(0).dtype;
            for (std::size_t i = 0; i < 3; ++i)
                if (!expect_single(c, i, "an operand", dtype)) return;
            result_like(c, 0);
            result_like(c, 1);
        })
        .no_gradient(kUpdatesAreFinal)
        .flops([](const auto&, const auto&, const Attributes&) { return std::int64_t{4}; })
        .in_place(0, 0)
        .in_place(1, 1);
}

}  // namespace dtnn::compiler
