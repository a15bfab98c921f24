#include "compiler/ops/normalisation/local_response.hpp"

namespace dtnn::compiler {
namespace {

Field bounded_field(std::string_view name, double value, double maximum, std::string_view doc) {
    Field field = real_field(name, value, doc);
    field.minimum = 0;
    field.maximum = maximum;
    return field;
}

}  // namespace

/// dst_c = src_c / (k + alpha/size * sum of src_j^2)^beta over the `size` channels j from
/// c - floor(size/2) on, as far as they exist: torch.nn.LocalResponseNorm, whose alpha is divided
/// by the size.
OpDef define_local_response_norm() {
    Field k = bounded_field("k", 1, 1e6, "added to the weighted mean square");
    k.exclusive_minimum = true;
    return OpBuilder("local_response_norm")
        .family(Family::normalisation)
        .kernel_class(KernelClass::normalizations)
        .doc(
            "Divides by a power of k plus alpha times the mean square of neighbouring channels of "
            "the pixel (Krizhevsky et al., 2012), as PyTorch defines it: alpha is divided by the "
            "size.")
        .layer("- local_response_norm: {size: 5, alpha: 0.0001, beta: 0.75, k: 2}")
        .field(integer_field("size", 5, "channels of the window, around the channel", 1,
                             kLargestWindow))
        .field(bounded_field("alpha", 1e-4, 1e6, "weight of the mean square of the window"))
        .field(bounded_field("beta", 0.75, 100, "exponent"))
        .field(k)
        .shape([](ShapeContext& c) {
            if (!expect_image(c, "local_response_norm")) return;
            local_response_fallbacks(c);
            result_like(c);
        })
        .gradient([](GradientContext& g) {
            if (!g.wants(0)) return;
            g.set(0,
                  g.emit("local_response_norm_backward", {g.input(0), g.diff(0)},
                         pick(g.node().attributes, {"size", "alpha", "beta", "k"}), "diff_src")[0]);
        })
        .flops([](const std::vector<Type>& in, const std::vector<Type>&, const Attributes& a) {
            return saturating_product({std::get<std::int64_t>(a.at("size")) + 8, in[0].elements()});
        });
}

}  // namespace dtnn::compiler
