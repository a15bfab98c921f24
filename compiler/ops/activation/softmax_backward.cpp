#include "compiler/ops/channel_axis.hpp"

namespace dtnn::compiler {

/// diff_src_i = dst_i * (diff_dst_i - sum_j diff_dst_j * dst_j) along the channels.
OpDef define_softmax_backward() {
    return OpBuilder("softmax_backward")
        .family(Family::activation)
        .kernel_class(KernelClass::memory)
        .doc("Gradient of softmax.")
        .inputs({"dst", "diff_dst"})
        .outputs({"diff_src"})
        .shape([](ShapeContext& c) {
            if (!expect_operands(c, "softmax_backward", 2)) return;
            if (!expect_channel_axis(c, "softmax_backward")) return;
            if (!expect_dims(c, "softmax_backward", 1, "diff_dst", c.input(0).dims)) return;
            result_like(c);
        })
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return 4 * in[0].elements();
        })
        .in_place(0, 1)
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
