#include "compiler/ops/normalisation/normalisation.hpp"
#include "compiler/ops/sequence/lengths.hpp"

namespace dtnn::compiler {

/// dst = gamma * src / sqrt(mean of the squares + epsilon), over what layer_norm normalises
/// together.
OpDef define_rms_norm() {
    return OpBuilder("rms_norm")
        .family(Family::normalisation)
        .kernel_class(KernelClass::normalizations)
        .doc(
            "Divides each sample, each step of a sequence or each pixel's channels by the root of "
            "the mean of the squares, then scales by learned numbers: layer_norm without a mean "
            "(Zhang and Sennrich, 2019).")
        .layer("- rms_norm: {axis: channels}")
        .field(layer_norm_axis_field())
        .field(epsilon_field())
        .field(boolean_field("affine", true, "whether the result is scaled by learned numbers"))
        .operands_by("affine")
        .with_lengths(each_step)
        .parameter(gamma_rule(layer_norm_parameter_dims, layer_norm_parameter))
        .shape([](ShapeContext& c) {
            settle_layer_norm(c);
            if (!c.error()) result_like(c);
        })
        .general_form([](const Graph&, const Node& node) {
            Attributes attributes = pick(node.attributes, {"axis", "axes", "epsilon", "affine"});
            attributes[kUncentred] = true;
            return becomes(node, "layer_norm", std::move(attributes));
        })
        .no_gradient("abstract: canonicalize makes it layer_norm before differentiation")
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (flag(a, "affine") ? 4 : 3) * in[0].elements();
        });
}

}  // namespace dtnn::compiler
