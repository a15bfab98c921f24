#include <fmt/format.h>

#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// Attributes: clip_norm where the norm is clipped, `shared` where an operand is the sum of the
/// batches' shares, `loss_scaled` where one is what the loss was multiplied by, and dtype, the
/// result's ("f32" or "f64"). kernels/arguments/gradient.hpp
/// has the formula.
OpDef define_gradient_scale() {
    return OpBuilder("gradient_scale")
        .family(Family::update)
        .kernel_class(KernelClass::memory)
        .doc(
            "The factor of all gradients: it divides by the batches' shares and the scale of the "
            "loss, and brings the norm down to clip_norm.")
        .variadic(1)
        .shape([](ShapeContext& c) {
            DType dtype{};
            if (!plan::parse_name(c.text("dtype"), dtype)) {
                c.fail(fmt::format("gradient_scale: `{}` is no dtype", c.text("dtype")));
                return;
            }
            const std::size_t numbers = c.place_of("shares").has_value() +
                                        std::size_t(c.place_of("loss_scale").has_value());
            for (std::size_t i = 0; i + numbers < c.inputs().size(); ++i)
                if (!expect_single(c, i, "square_sum", DType::f64)) return;
            if (!expect_single(c, "shares", dtype) || !expect_single(c, "loss_scale", dtype))
                return;
            c.result({dtype, {}, {}});
        })
        .no_gradient(kUpdatesAreFinal)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return std::int64_t(in.size()) + 4;
        });
}

}  // namespace dtnn::compiler
