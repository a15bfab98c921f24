#include "compiler/ops/spatial.hpp"

namespace dtnn::compiler {
namespace {

void conv2d_backward_weights_shape(ShapeContext& c) {
    if (!expect_image(c, "conv2d_backward_weights", 0)) return;
    if (!expect_image(c, "conv2d_backward_weights", 1)) return;
    fallback(c, "groups");
    fallback(c, "bias", false);
    const Type& src = c.input(0);
    const auto kernel = pair_of(c.attributes(), "kernel");
    const auto window = resolve_window(c, kernel, src.dims);
    if (!window) return;
    const std::int64_t filters = c.input(1).dims[1];
    const Type dst = windowed_type(src, filters, *window);
    if (!expect_dims(c, "diff_dst", dst.dims)) return;
    Type weights{
        wide_of(src.dtype), {filters, src.dims[1] / c.integer("groups"), kernel[0], kernel[1]}, {}};
    // Weights follow their image: channels last means KH, KW, C, F.
    if (!src.order.empty()) weights.order = kFilterOrder;
    c.result(weights);
    if (c.flag("bias")) c.result(Type{weights.dtype, {filters}, {}});
}

}  // namespace

/// diff_weights[f,c,i,j] = sum over n,y,x of diff_dst[n,f,y,x] * src[n, c, y*s+i*d-p, x*s+j*d-p];
/// diff_bias[f] = sum of diff_dst over n,y,x.
OpDef define_conv2d_backward_weights() {
    return OpBuilder("conv2d_backward_weights")
        .family(Family::convolution)
        .kernel_class(weight_gradient_class)
        .multiplies()
        .attribute("groups", std::int64_t{1})
        .weights_result(0, kFilterOrder)
        .doc("Gradient of a convolution by its weights, and by its bias when it has one.")
        .shape(conv2d_backward_weights_shape)
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>& out, const Attributes& a) {
            const Dims& w = out[0].dims;
            return saturating_product({2, in[1].elements(), w[1], w[2], w[3]}) +
                   (flag(a, "bias") ? in[1].elements() : 0);
        });
}

}  // namespace dtnn::compiler
