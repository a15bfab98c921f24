#include "compiler/ops/spatial.hpp"

namespace dtnn::compiler {
namespace {

void conv2d_backward_data_shape(ShapeContext& c) {
    if (!expect_image(c, "conv2d_backward_data")) return;
    fallback(c, "groups");
    const Dims source = c.integers("source_shape");
    const Dims& weights = c.input(1).dims;
    if (weights.size() != 4 || source.size() != 4) {
        c.fail("conv2d_backward_data: weights and source_shape must have 4 axes");
        return;
    }
    const auto window = resolve_window(c, {weights[2], weights[3]}, source);
    if (!window) return;
    Type diff_src = c.input(0);
    diff_src.dims = source;
    const Type dst = windowed_type(diff_src, weights[0], *window);
    if (!expect_dims(c, "diff_dst", dst.dims)) return;
    if (!expect_dims(c, "y", source)) return;
    c.result(diff_src);
}

}  // namespace

/// diff_src = the transposed convolution of diff_dst with the weights; times (y > 0) when `mask`.
OpDef define_conv2d_backward_data() {
    return OpBuilder("conv2d_backward_data")
        .family(Family::convolution)
        .kernel_class(convolution_class)
        .multiplies()
        .attribute("groups", std::int64_t{1})
        .takes({Epilogue::mask})
        .weights_operand(1, kFilterOrder)
        .doc("Gradient of a convolution by its source.")
        .shape(conv2d_backward_data_shape)
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>& out, const Attributes& a) {
            const Dims& w = in[1].dims;
            return saturating_product({2, in[0].elements(), w[1], w[2], w[3]}) +
                   (flag(a, "mask") ? out[0].elements() : 0);
        });
}

}  // namespace dtnn::compiler
