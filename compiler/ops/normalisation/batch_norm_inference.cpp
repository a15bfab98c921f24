#include "compiler/ops/emit.hpp"
#include "compiler/ops/normalisation/batch_statistics.hpp"

namespace dtnn::compiler {

/// dst = gamma * (src - running_mean) / sqrt(running_variance + epsilon) + beta [+ residual], then
/// the epilogue.
OpDef define_batch_norm_inference() {
    return OpBuilder("batch_norm_inference")
        .family(Family::normalisation)
        .kernel_class(KernelClass::normalizations)
        .follows_images()
        .attribute("epsilon", 1e-5)
        .attribute("epilogue", std::string("none"))
        .takes({Epilogue::residual, Epilogue::relu})
        .same_step()
        .doc("Batch normalisation by the running statistics.")
        .shape([](ShapeContext& c) {
            if (!settle_features(c, "batch_norm_inference")) return;
            if (!expect_per_channel(c, "batch_norm_inference", 1, 4)) return;
            if (!expect_dims(c, "residual", c.input(0).dims)) return;
            fallback(c, "epsilon");
            c.attributes().erase("momentum");
            result_like(c);
        })
        .no_gradient("inference only; training uses batch_norm_training")
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return (2 + (flag(a, "residual") ? 1 : 0) + flops_of_epilogue(a)) * in[0].elements();
        })
        .in_place(0, 0)
        .in_place(0, 5);
}

}  // namespace dtnn::compiler
