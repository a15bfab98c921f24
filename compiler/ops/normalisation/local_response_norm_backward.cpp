#include "compiler/ops/normalisation/local_response.hpp"

namespace dtnn::compiler {

/// With s_c = k + alpha/size * sum of src_j^2 over c's window:
/// diff_src_i = diff_dst_i * s_i^-beta
///              - 2*alpha*beta/size * src_i * sum of diff_dst_c * src_c * s_c^(-beta-1)
/// over the channels c whose window has i. The s are computed again.
OpDef define_local_response_norm_backward() {
    return OpBuilder("local_response_norm_backward")
        .family(Family::normalisation)
        .kernel_class(KernelClass::normalization_gradients)
        .attribute("size", std::int64_t{5})
        .attribute("alpha", 1e-4)
        .attribute("beta", 0.75)
        .attribute("k", 1.0)
        .doc("Gradient of local_response_norm.")
        .shape([](ShapeContext& c) {
            if (!expect_image(c, "local_response_norm_backward")) return;
            if (!expect_dims(c, "diff_dst", c.input(0).dims)) return;
            local_response_fallbacks(c);
            result_like(c);
        })
        .no_gradient(kNoSecondDerivative)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return saturating_product(
                {2 * std::get<std::int64_t>(a.at("size")) + 14, in[0].elements()});
        });
}

}  // namespace dtnn::compiler
