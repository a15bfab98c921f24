#include "base/tensor/epilogue.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/ops/normalisation/batch_statistics.hpp"

namespace dtnn::compiler {
namespace {

void batch_norm_backward_shape(ShapeContext& c) {
    if (!expect_relu_backward(c, "batch_norm_backward")) return;
    const Type& src = c.input(0);
    const Type per_channel{wide_of(src.dtype), {features_of(src)}, {}};
    c.result(src);
    c.result(per_channel);
    c.result(per_channel);
    if (c.flag("residual")) c.result(src);
}

}  // namespace

/// With x = (src-mean)*inverse_deviation, d = diff_dst (masked by relu's sign when fused; with the
/// epilogue `expression` that attribute over diff_dst and gamma*x+beta) and m
/// elements per channel: diff_gamma = sum(d*x), diff_beta = sum(d), diff_src =
/// gamma*inverse_deviation*(d - diff_beta/m - x*diff_gamma/m), diff_residual = d.
OpDef define_batch_norm_backward() {
    return OpBuilder("batch_norm_backward")
        .family(Family::normalisation)
        .kernel_class(KernelClass::normalization_gradients)
        .attribute("epilogue", std::string("none"))
        .doc("Gradient of batch_norm_training.")
        .shape(batch_norm_backward_shape)
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            // What is not above 0 does not count in either sum.
            const bool relu = epilogue_of(a) == EpilogueForm::relu;
            return ((relu ? 11 : 10) + flops_of_epilogue(a)) * in[0].elements();
        })
        .in_place(0, 1);
}

}  // namespace dtnn::compiler
