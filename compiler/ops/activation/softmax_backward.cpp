#include "compiler/ops/activation/softmax.hpp"

namespace dtnn::compiler {

OpBuilder channel_distribution_backward(const char* name) {
    OpBuilder builder(name);
    builder.family(Family::activation)
        .kernel_class(KernelClass::memory)
        .shape([name](ShapeContext& c) {
            if (!settle_axis(c, name)) return;
            if (!expect_dims(c, "diff_dst", c.input(0).dims)) return;
            result_like(c);
        })
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return 4 * in[0].elements();
        })
        .in_place(0, 1)
        .in_place(0, 0);
    return builder;
}

/// diff_src_i = dst_i * (diff_dst_i - sum_j diff_dst_j * dst_j) along the axis.
OpDef define_softmax_backward() {
    return channel_distribution_backward("softmax_backward").doc("Gradient of softmax.");
}

}  // namespace dtnn::compiler
