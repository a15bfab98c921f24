#include "compiler/ops/normalisation/batch_statistics.hpp"
#include "compiler/ops/normalisation/normalisation.hpp"

namespace dtnn::compiler {
namespace {

Dims per_channel(const Type& input, const Attributes&) {
    return {features_of(input)};
}

void group_norm_shape(ShapeContext& c) {
    if (!expect_normalisation(c, "group_norm") || !settle_features(c, "group_norm")) return;
    if (!expect_groups(c)) return;
    if (!expect_per_channel(c, "group_norm", 1, c.inputs().size() - 1)) return;
    normalisation_results(c, group_norm_statistics(c));
}

}  // namespace

/// dst = gamma * (src - mean) / sqrt(variance + epsilon) + beta, biased variance over the C/groups
/// channels of a group and all pixels of a sample; gamma and beta for each channel, as
/// torch.nn.GroupNorm.
OpDef define_group_norm() {
    return OpBuilder("group_norm")
        .family(Family::normalisation)
        .kernel_class(KernelClass::normalizations)
        .kept_for_backward("statistics")
        .doc(
            "Gives each group of a sample's channels mean 0 and deviation 1, then scales and "
            "shifts each channel by learned numbers (Wu and He, 2018); as many groups as channels "
            "are instance normalisation.")
        .layer("- group_norm: {groups: 8}")
        .field(integer_field("groups", {},
                             "groups of neighbouring channels; must divide the channels; 1: one "
                             "group, as many as channels: instance normalisation",
                             1, kLargestExtent))
        .field(epsilon_field())
        .field(affine_field())
        .operands_by("affine")
        .parameter(gamma_rule(per_channel))
        .parameter(beta_rule(per_channel))
        .shape(group_norm_shape)
        .gradient([](GradientContext& g) {
            emit_normalisation_backward(g, "group_norm_backward", {"groups", "affine"});
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return 7 * in[0].elements();
        })
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
