#include "compiler/ops/batch_statistics.hpp"

namespace dtnn::compiler {
namespace {

void shape(ShapeContext& c) {
    const bool mask = c.flag("mask");
    const bool relu = text_or(c.attributes(), "epilogue", "none") == "relu";
    const std::size_t operands = 5 + (relu && !mask ? 1u : 0u) + (mask ? 1u : 0u);
    if (!expect_channels(c, "batch_norm_backward")) return;
    if (!expect_operands(c, "batch_norm_backward", operands)) return;
    const Type& src = c.input(0);
    if (!expect_dims(c, "batch_norm_backward", 1, "diff_dst", src.dims)) return;
    if (!expect_per_channel(c, "batch_norm_backward", 2, 3)) return;
    if (relu && !mask && !expect_per_channel(c, "batch_norm_backward", 5, 1)) return;
    if (mask && !expect_dims(c, "batch_norm_backward", 5, "mask", {bit_mask_bytes(src.elements())}))
        return;
    const Type per_channel{src.dtype, {src.dims[1]}, {}};
    c.result(src);
    c.result(per_channel);
    c.result(per_channel);
    if (c.flag("residual")) c.result(src);
}

}  // namespace

/// With x = (src-mean)*inverse_deviation, d = diff_dst (masked by relu's sign when fused) and m
/// elements per channel: diff_gamma = sum(d*x), diff_beta = sum(d), diff_src =
/// gamma*inverse_deviation*(d - diff_beta/m - x*diff_gamma/m), diff_residual = d.
OpDef define_batch_norm_backward() {
    return OpBuilder("batch_norm_backward")
        .doc("Gradient of batch_norm_training.")
        .inputs({"src", "diff_dst", "gamma", "mean", "inverse_deviation", "beta?", "mask?"})
        .outputs({"diff_src", "diff_gamma", "diff_beta", "diff_residual?"})
        .shape(shape)
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            const bool relu = text_or(a, "epilogue", "none") == "relu";
            return (relu ? 12 : 10) * in[0].elements();
        })
        .in_place(0, 1);
}

}  // namespace dtnn::compiler
