#include "compiler/ops/elementwise/dropout.hpp"

#include "compiler/ops/sequence/lengths.hpp"

namespace dtnn::compiler {

OpBuilder dropout_layer(const char* name, const char* applied, bool image,
                        std::string_view rate_doc) {
    Field rate = real_field("rate", 0.5, rate_doc);
    rate.minimum = 0;
    rate.maximum = 1;
    rate.exclusive_maximum = true;
    rate.usual_most = 0.85;
    OpBuilder builder(name);
    builder.family(Family::dropout)
        .kernel_class(KernelClass::dropout)
        .in_training({.op = applied, .attributes = {"rate"}, .random = true})
        .in_inference({})
        .does_nothing(drops_nothing)
        .with_lengths(each_step)
        .field(rate)
        .shape([name, image](ShapeContext& c) {
            if (image && !expect_image(c, name)) return;
            fallback(c, "rate");
            result_like(c);
        })
        .no_gradient(std::string("abstract: specialise_phase makes it ") + applied +
                     " before differentiation")
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return in[0].elements();
        })
        .in_place(0, 0);
    return builder;
}

OpDef define_dropout() {
    return dropout_layer("dropout", "dropout_apply", false,
                         "probability with which a number is dropped")
        .doc(
            "Training only: sets numbers to 0 at random and scales the others by 1 / (1 - rate) "
            "(Srivastava et al., 2014).")
        .layer("- dropout: {rate: 0.5}");
}

}  // namespace dtnn::compiler
