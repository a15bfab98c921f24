#include "compiler/ops/elementwise/dropout.hpp"

namespace dtnn::compiler {

OpBuilder dropout_application(const char* name, bool image) {
    OpBuilder builder(name);
    builder.family(Family::dropout)
        .kernel_class(KernelClass::dropout)
        .shape([name, image](ShapeContext& c) {
            if (image && !expect_image(c, name)) return;
            if (c.input(1).dtype != DType::i64 || c.input(1).elements() != 2) {
                c.fail(std::string(name) + ": position must be two i64");
                return;
            }
            c.real("rate");
            c.integer("seed");
            c.integer("stream");
            result_like(c);
        })
        .gradient([name](GradientContext& g) {
            if (!g.wants(0)) return;
            g.set(0, g.emit(name, {g.diff(0), g.input(1)}, g.node().attributes, "diff_src")[0]);
        })
        .in_place(0, 0);
    return builder;
}

/// The number drawn for element e of the sample at place p of the epoch is p * E + e, E elements a
/// sample.
OpDef define_dropout_apply() {
    return dropout_application("dropout_apply", false)
        .doc("Sets elements to 0 at random, by counter-based random numbers.")
        // Philox 4x32-10: ten rounds of about six operations for four numbers, a comparison and a
        // product.
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return 17 * in[0].elements();
        });
}

}  // namespace dtnn::compiler
