#include "compiler/ops/activation/softmax.hpp"

namespace dtnn::compiler {

OpBuilder channel_distribution(const char* name, const char* backward) {
    OpBuilder builder(name);
    builder.family(Family::activation)
        .kernel_class(KernelClass::memory)
        .layer(std::string("- ") + name)
        .field(axis_field("axis of normalisation"))
        .same_step(spares_steps)
        .shape([name](ShapeContext& c) {
            if (settle_axis(c, name)) result_like(c);
        })
        // Only dst is kept.
        .gradient([backward](GradientContext& g) {
            if (!g.wants(0)) return;
            g.set(0, g.emit(backward, {g.output(0), g.diff(0)}, pick(g.node().attributes, {"axis"}),
                            "diff_src")[0]);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return 5 * in[0].elements();
        })
        .in_place(0, 0);
    return builder;
}

/// dst_i = exp(src_i - max) / sum_j exp(src_j - max) along the axis.
OpDef define_softmax() {
    return channel_distribution("softmax", "softmax_backward")
        .doc("Normalised exponentials along one axis: positive numbers that sum to 1.")
        .gives(plan::Prediction::probabilities);
}

}  // namespace dtnn::compiler
