#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// What users write; specialise_phase makes it dropout_apply in training and removes it for
/// inference.
OpDef define_dropout() {
    Field rate = real_field("rate", 0.5, "probability with which a number is dropped");
    rate.minimum = 0;
    rate.maximum = 1;
    rate.exclusive_maximum = true;
    return OpBuilder("dropout")
        .family(Family::dropout)
        .kernel_class(KernelClass::dropout)
        .in_training({.op = "dropout_apply", .attributes = {"rate"}, .random = true})
        .in_inference({})
        .does_nothing(drops_nothing)
        .doc(
            "Training only: sets numbers to 0 at random and scales the others by 1 / (1 - rate) "
            "(Srivastava et al., 2014).")
        .layer("- dropout: {rate: 0.5}")
        .inputs({"src"})
        .outputs({"dst"})
        .field(rate)
        .shape([](ShapeContext& c) {
            if (!expect_operands(c, "dropout", 1)) return;
            fallback(c, "rate", 0.5);
            result_like(c);
        })
        .no_gradient("abstract: specialise_phase makes it dropout_apply before differentiation")
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        })
        .in_place(0, 0);
}

}  // namespace dtnn::compiler
