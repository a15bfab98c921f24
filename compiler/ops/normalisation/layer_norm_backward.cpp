#include "compiler/ops/normalisation/normalisation.hpp"

namespace dtnn::compiler {
namespace {

void layer_norm_backward_shape(ShapeContext& c) {
    settle_layer_norm_axes(c);
    if (!expect_normalisation_backward(c, "layer_norm_backward",
                                       layer_norm_statistics(c.input(0), c.attributes())))
        return;
    if (c.flag("affine") && !expect_layer_norm_parameter(c, "layer_norm_backward", 4)) return;
    normalisation_backward_results(c);
}

}  // namespace

/// With x = (src-mean)*inverse_deviation, g = gamma*diff_dst and L numbers normalised together:
/// diff_src = inverse_deviation * (g - sum(g)/L - x*sum(g*x)/L); over everything that shares a
/// gamma, diff_gamma = sum(diff_dst*x), diff_beta = sum(diff_dst).
OpDef define_layer_norm_backward() {
    return OpBuilder("layer_norm_backward")
        .family(Family::normalisation)
        .kernel_class(KernelClass::normalization_gradients)
        .attribute("affine", true)
        .operands_by("affine")
        .doc("Gradient of layer_norm.")
        .shape(layer_norm_backward_shape)
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (flag(a, "affine") ? 13 : 9) * in[0].elements();
        })
        .in_place(0, 1);
}

}  // namespace dtnn::compiler
