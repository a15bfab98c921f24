#include "compiler/ops/normalisation/batch_statistics.hpp"
#include "compiler/ops/normalisation/normalisation.hpp"

namespace dtnn::compiler {
namespace {

void group_norm_backward_shape(ShapeContext& c) {
    if (!settle_features(c, "group_norm_backward") || !expect_groups(c)) return;
    if (!expect_normalisation_backward(c, "group_norm_backward", group_norm_statistics(c))) return;
    if (c.flag("affine") && !expect_per_channel(c, "group_norm_backward", 4, 1)) return;
    normalisation_backward_results(c);
}

}  // namespace

/// As layer_norm_backward, with sums over a group of a sample's channels and M numbers in it:
/// diff_src = inverse_deviation * (g - sum(g)/M - x*sum(g*x)/M), g = gamma*diff_dst; per channel
/// over samples and pixels, diff_gamma = sum(diff_dst*x), diff_beta = sum(diff_dst).
OpDef define_group_norm_backward() {
    return OpBuilder("group_norm_backward")
        .family(Family::normalisation)
        .kernel_class(KernelClass::normalization_gradients)
        .attribute("affine", true)
        .operands_by("affine")
        .doc("Gradient of group_norm.")
        .shape(group_norm_backward_shape)
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return 10 * in[0].elements();
        })
        .in_place(0, 1);
}

}  // namespace dtnn::compiler
