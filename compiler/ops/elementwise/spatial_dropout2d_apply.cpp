#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// dst[n,c,h,w] = src[n,c,h,w] / (1 - rate) where uniform(seed, stream, step, n*C + c) >= rate,
/// else 0. Like dropout_apply it is its own gradient, and no mask is stored.
OpDef define_spatial_dropout2d_apply() {
    return OpBuilder("spatial_dropout2d_apply")
        .family(Family::dropout)
        .kernel_class(KernelClass::dropout)
        .doc("Sets whole channels of samples to 0 at random, by counter-based random numbers.")
        .inputs({"src", "step"})
        .outputs({"dst"})
        .shape([](ShapeContext& c) {
            if (!expect_operands(c, "spatial_dropout2d_apply", 2)) return;
            if (!expect_image(c, "spatial_dropout2d_apply")) return;
            if (c.input(1).dtype != DType::i64 || c.input(1).elements() != 1) {
                c.fail("spatial_dropout2d_apply: step must be one i64");
                return;
            }
            c.real("rate");
            c.integer("seed");
            c.integer("stream");
            result_like(c);
        })
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            g.set(0, g.emit("spatial_dropout2d_apply", {g.diff(0), g.input(1)}, g.node().attributes,
                            "diff_src")[0]);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements() + 17 * in[0].dims[0] * in[0].dims[1];
        })
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
