#include "compiler/ops/axis.hpp"

namespace dtnn::compiler {

/// dst[c] = the sum of src over everything but the channels.
OpDef define_channel_sums() {
    return OpBuilder("channel_sums")
        .family(Family::convolution)
        .kernel_class(KernelClass::memory)
        .doc("The sum of each channel over the batch; the gradient of a bias.")
        .shape([](ShapeContext& c) {
            if (!settle_features(c, "channel_sums")) return;
            const Type& src = c.input(0);
            c.result(Type{wide_of(src.dtype), {features_of(src)}, {}});
        })
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        });
}

}  // namespace dtnn::compiler
