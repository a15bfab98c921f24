#include <fmt/format.h>

#include "compiler/ops/update/optimizer.hpp"

namespace dtnn::compiler {

/// Attributes: clip_norm, and dtype, the result's ("f32" or "f64"). kernels/arguments/gradient.hpp
/// has the formula.
OpDef define_gradient_scale() {
    return OpBuilder("gradient_scale")
        .family(Family::update)
        .kernel_class(KernelClass::memory)
        .doc("The factor that brings the norm of all gradients down to clip_norm, at most 1.")
        .variadic(1)
        .inputs({"square_sum"})
        .outputs({"dst"})
        .shape([](ShapeContext& c) {
            for (std::size_t i = 0; i < c.inputs().size(); ++i)
                if (!expect_single(c, "gradient_scale", i, "square_sum", DType::f64)) return;
            DType dtype{};
            if (!plan::parse_name(c.text("dtype"), dtype)) {
                c.fail(fmt::format("gradient_scale: `{}` is no dtype", c.text("dtype")));
                return;
            }
            c.result({dtype, {}, {}});
        })
        .no_gradient(kUpdatesAreFinal)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return std::int64_t(in.size()) + 4;
        });
}

}  // namespace dtnn::compiler
