#include "compiler/ops/emit.hpp"
#include "compiler/ops/normalisation/batch_statistics.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

void batch_norm_training_shape(ShapeContext& c) {
    if (!settle_features(c, "batch_norm_training")) return;
    if (!expect_per_channel(c, "batch_norm_training", 1, 4)) return;
    fallback(c, "epsilon");
    fallback(c, "momentum");
    const Type& src = c.input(0);
    const std::int64_t channels = features_of(src);
    const bool synchronised = c.flag("synchronised");
    DTNN_CHECK(c.flag("statistics") || !synchronised,
               "batch_norm_training without the sums of all ranks");
    const Dims sums = synchronised ? rank_moments(src).dims : Dims{3, channels};
    if (!expect_dims(c, "statistics", sums)) return;
    if (!expect_dims(c, "residual", src.dims)) return;
    c.result(src);
    // The mean in double: a channel far from zero is as near to its mean as any other.
    for (int i = 0; i < 4; ++i)
        c.result(Type{i == 0 ? DType::f64 : wide_of(src.dtype), {channels}, {}});
    if (c.flag("mask")) c.result(Type{DType::u8, {bit_mask_bytes(src.elements())}, {}});
}

void batch_norm_training_gradient(GradientContext& g) {
    DTNN_CHECK(!has_epilogue(g.node()), "batch_norm_training is fused after differentiation");
    if (!g.wants(0) && !g.wants(1) && !g.wants(2)) return;
    const auto diffs =
        g.emit("batch_norm_backward", {g.input(0), g.diff(0), g.input(1), g.output(1), g.output(2)},
               {}, "diff_src");
    for (std::size_t i = 0; i < 3; ++i)
        g.set(i, diffs[i]);
}

}  // namespace

/// Per channel over all other axes, with m elements: mean = sum(src)/m, variance =
/// sum((src-mean)^2)/m, dst = gamma * (src-mean) * inverse_deviation + beta [+ residual], then relu
/// or the attribute `expression` over it when the epilogue says so; inverse_deviation =
/// 1/sqrt(variance + epsilon); new_running = momentum*running + (1-momentum)*batch. With
/// `synchronised` the statistics are those of all ranks (batch_norm_sums), and m is their count.
/// `dst` may not overwrite `src`: backward reads src.
OpDef define_batch_norm_training() {
    return OpBuilder("batch_norm_training")
        .family(Family::normalisation)
        .kernel_class(KernelClass::normalizations)
        .follows_images()
        .attribute("epsilon", 1e-5)
        .attribute("momentum", 0.9)
        .attribute("epilogue", std::string("none"))
        .takes({Epilogue::residual, Epilogue::relu, Epilogue::expression})
        .doc(
            "Batch normalisation by the statistics of the batch, which also moves the running "
            "ones.")
        .shape(batch_norm_training_shape)
        .gradient(batch_norm_training_gradient)
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            const std::int64_t per_element = (flag(a, "statistics") ? 0 : 3) + 2 +
                                             (flag(a, "residual") ? 1 : 0) + flops_of_epilogue(a);
            return per_element * in[0].elements();
        })
        // The running statistics are read once and written once, element by element.
        .moves(3, 3)
        .moves(4, 4);
}

}  // namespace dtnn::compiler
