#include "compiler/ops/normalisation/normalisation.hpp"

namespace dtnn::compiler {
namespace {

void layer_norm_shape(ShapeContext& c) {
    settle_layer_norm(c);
    if (c.error()) return;
    normalisation_results(c, layer_norm_statistics(c.input(0), c.attributes()));
}

}  // namespace

/// dst = gamma * (src - mean) / sqrt(variance + epsilon) + beta, biased variance; over all numbers
/// of a sample or of a step of a sequence, with a gamma and a beta for each (torch.nn.LayerNorm
/// over (C,H,W), over F), or over the channels of each pixel, with a gamma and a beta for each
/// channel.
OpDef define_layer_norm() {
    return OpBuilder("layer_norm")
        .family(Family::normalisation)
        .kernel_class(KernelClass::normalizations)
        .kept_for_backward("statistics")
        .doc(
            "Gives each sample, each step of a sequence or each pixel's channels mean 0 and "
            "deviation "
            "1, then scales and shifts by learned numbers (Ba, Kiros and Hinton, 2016).")
        .layer("- layer_norm: {axis: channels}")
        .field(layer_norm_axis_field())
        .field(epsilon_field())
        .field(affine_field())
        .operands_by("affine")
        .same_step()
        .parameter(gamma_rule(layer_norm_parameter_dims, layer_norm_parameter))
        .parameter(beta_rule(layer_norm_parameter_dims, layer_norm_parameter))
        .shape(layer_norm_shape)
        .gradient([](GradientContext& g) {
            emit_normalisation_backward(g, "layer_norm_backward",
                                        {"axis", "axes", "affine", kUncentred});
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (flag(a, "affine") ? 8 : 6) * in[0].elements();
        })
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
