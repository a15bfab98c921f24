#include <fmt/format.h>

#include "compiler/ops/normalisation/normalisation.hpp"

namespace dtnn::compiler {
namespace {

/// Kernels walk along what is normalised together as along one axis.
bool expect_neighbours(ShapeContext& c) {
    if (!c.has("axes")) return true;
    const std::vector<std::int64_t> axes = c.integers("axes");
    if (axes.empty() || axes.back() - axes.front() + 1 == std::int64_t(axes.size())) return true;
    c.fail(fmt::format("layer_norm takes all but steps together, and these are no neighbours in {}",
                       sample_text(c.input(0))),
           "`axis: channels` normalises the features of every place", "axis");
    return false;
}

void layer_norm_shape(ShapeContext& c) {
    if (!expect_normalisation(c, "layer_norm")) return;
    settle_layer_norm_axes(c);
    if (!expect_neighbours(c)) return;
    for (std::size_t i = 1; i < c.inputs().size(); ++i)
        if (!expect_layer_norm_parameter(c, "layer_norm", i)) return;
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
        .field(choice_field("axis", "features", {"features", "channels"},
                            "what is normalised together: all numbers of a sample, or of each step "
                            "of a sequence (features), or the channels of each pixel (channels, as "
                            "in ConvNeXt)"))
        .field(epsilon_field())
        .field(affine_field())
        .operands_by("affine")
        .parameter(gamma_rule(layer_norm_parameter_dims, layer_norm_parameter))
        .parameter(beta_rule(layer_norm_parameter_dims, layer_norm_parameter))
        .shape(layer_norm_shape)
        .gradient([](GradientContext& g) {
            emit_normalisation_backward(g, "layer_norm_backward", {"axis", "axes", "affine"});
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (flag(a, "affine") ? 8 : 6) * in[0].elements();
        })
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
