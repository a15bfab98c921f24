#include "compiler/ops/channel_axis.hpp"

namespace dtnn::compiler {

/// dst[c] = the sum of src over everything but the channels.
OpDef define_channel_sums() {
    return OpBuilder("channel_sums")
        .family(Family::convolution)
        .kernel_class(KernelClass::memory)
        .doc("The sum of each channel over the batch; the gradient of a bias.")
        .inputs({"src"})
        .outputs({"dst"})
        .shape([](ShapeContext& c) {
            if (!expect_operands(c, "channel_sums", 1)) return;
            const Type& src = c.input(0);
            if (src.dims.size() != 2 && src.dims.size() != 4) {
                c.fail("channel_sums takes [N,C] or [N,C,H,W]");
                return;
            }
            c.result(Type{wide_of(src.dtype), {src.dims[1]}, {}});
        })
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        });
}

}  // namespace dtnn::compiler
