#include "compiler/ops/normalisation/batch_statistics.hpp"

namespace dtnn::compiler {
namespace {

ParameterRule per_channel(std::string_view role, bool trainable, const char* kind) {
    return {std::string(role), trainable,
            [](const Type& input, const Attributes&) { return Dims{features_of(input)}; },
            [role, kind](const Dims& dims, const Attributes& attributes) {
                const std::string field = std::string(role) + "_initializer";
                const std::int64_t fan = dims.empty() ? 1 : dims[0];
                return initializer(attributes, field.c_str(), kind, fan, fan);
            }};
}

Field fraction_field(std::string_view name, double value, std::string_view doc) {
    Field field = real_field(name, value, doc);
    field.minimum = 0;
    field.maximum = 1;
    return field;
}

}  // namespace

/// The layer that users write; specialise_phase makes it batch_norm_training or
/// batch_norm_inference.
OpDef define_batch_norm() {
    Field epsilon =
        fraction_field("epsilon", 1e-5, "added to the variance, against division by zero");
    epsilon.exclusive_minimum = true;
    epsilon.usual_most = 0.1;
    Field momentum =
        fraction_field("momentum", 0.9, "part of the moving statistics that a step keeps");
    momentum.usual_least = 0.5;
    return OpBuilder("batch_norm")
        .family(Family::normalisation)
        .kernel_class(KernelClass::normalizations)
        .centres_channels()
        .in_training({.op = "batch_norm_training",
                      .attributes = {"epsilon", "momentum"},
                      .updates = {{3, 3}, {4, 4}}})
        .in_inference({.op = "batch_norm_inference", .attributes = {"epsilon"}})
        .doc(
            "Gives each channel mean 0 and deviation 1 over the batch, then scales and shifts it "
            "by learned numbers; inference uses moving statistics (Ioffe and Szegedy, 2015).")
        .layer("- batch_norm")
        .field(momentum)
        .field(epsilon)
        .field(initializer_field("gamma_initializer", "ones", "first factors"))
        .field(initializer_field("beta_initializer", "zeros", "first offsets"))
        .parameter(per_channel("gamma", true, "ones"))
        .parameter(per_channel("beta", true, "zeros"))
        .parameter(per_channel("running_mean", false, "zeros"))
        .parameter(per_channel("running_variance", false, "ones"))
        .with_lengths([](LengthsContext& c) {
            c.refuse("its statistics are of all steps, those that samples do not have included",
                     "`layer_norm` or `rms_norm` take each step by itself");
        })
        .shape([](ShapeContext& c) {
            if (!settle_features(c, "batch_norm")) return;
            if (!expect_per_channel(c, "batch_norm", 1, 4)) return;
            for (const char* name : {"gamma_initializer", "beta_initializer"})
                c.attributes().erase(name);
            fallback(c, "epsilon");
            fallback(c, "momentum");
            result_like(c);
        })
        .no_gradient(
            "abstract: specialise_phase makes it batch_norm_training before differentiation")
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes&) {
            return 5 * in[0].elements();
        });
}

}  // namespace dtnn::compiler
