#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// What users write; specialise_phase makes it spatial_dropout2d_apply in training and removes it
/// for inference.
OpDef define_spatial_dropout2d() {
    Field rate = real_field("rate", 0.5, "probability with which a channel of a sample is dropped");
    rate.minimum = 0;
    rate.maximum = 1;
    rate.exclusive_maximum = true;
    return OpBuilder("spatial_dropout2d")
        .family(Family::dropout)
        .kernel_class(KernelClass::dropout)
        .in_training({.op = "spatial_dropout2d_apply", .attributes = {"rate"}, .random = true})
        .in_inference({})
        .does_nothing(drops_nothing)
        .doc(
            "Training only: sets whole channels of a sample to 0 at random and scales the others "
            "by 1 / (1 - rate) (Tompson et al., 2015).")
        .layer("- spatial_dropout2d: {rate: 0.2}")
        .inputs({"src"})
        .outputs({"dst"})
        .field(rate)
        .shape([](ShapeContext& c) {
            if (!expect_operands(c, "spatial_dropout2d", 1)) return;
            if (!expect_image(c, "spatial_dropout2d")) return;
            fallback(c, "rate", 0.5);
            result_like(c);
        })
        .no_gradient(
            "abstract: specialise_phase makes it spatial_dropout2d_apply before "
            "differentiation")
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        })
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
