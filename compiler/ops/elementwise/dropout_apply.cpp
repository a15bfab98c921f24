#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// dst_i = src_i / (1 - rate) where uniform(seed, stream, step, i) >= rate, else 0. Which elements
/// are kept depends on nothing else, so the gradient is the same operator on the gradient, and no
/// mask is stored.
OpDef define_dropout_apply() {
    return OpBuilder("dropout_apply")
        .family(Family::dropout)
        .kernel_class(KernelClass::dropout)
        .doc("Sets elements to 0 at random, by counter-based random numbers.")
        .inputs({"src", "step"})
        .outputs({"dst"})
        .shape([](ShapeContext& c) {
            if (!expect_operands(c, "dropout_apply", 2)) return;
            if (c.input(1).dtype != DType::i64 || c.input(1).elements() != 1) {
                c.fail("dropout_apply: step must be one i64");
                return;
            }
            c.real("rate");
            c.integer("seed");
            c.integer("stream");
            result_like(c);
        })
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            g.set(0, g.emit("dropout_apply", {g.diff(0), g.input(1)}, g.node().attributes,
                            "diff_src")[0]);
        })
        // Philox 4x32-10: ten rounds of about six operations for four numbers, a comparison and a
        // product.
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return 17 * in[0].elements();
        })
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
