#include <fmt/format.h>

#include <numbers>

#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {
namespace {

ElementwiseForm form(const Attributes& attributes) {
    if (!says(attributes, "approximation", GeluApproximation::tanh))
        return {fmt::format("0.5 * x * (1 + erf(x * {}))", std::numbers::sqrt2 / 2)};
    const double factor = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    // With t = tanh(f (x + a x^3)), (1 + t + x (1 - t^2) f (1 + 3 a x^2)) / 2.
    const std::string t = fmt::format("tanh((0.044715 * x * x + 1) * {} * x)", factor);
    return {fmt::format("0.5 * x * (1 + tanh({} * (x + 0.044715 * x * x * x)))", factor), "",
            fmt::format("((1 - {0} * {0}) * (x * ({1} + {2} * x * x)) + {0} + 1) * 0.5", t, factor,
                        3 * 0.044715 * factor)};
}

}  // namespace

/// x times the distribution function of the normal distribution at x.
OpDef define_gelu() {
    return elementwise_operator(
               "gelu",
               {choice_field("approximation", "none", words_of<GeluApproximation>(),
                             "how the distribution function is computed: exactly, or by tanh")},
               form)
        .doc(
            "x * P(a normal number is less than x) (Hendrycks and Gimpel, 2016); approximation: "
            "tanh is the form that the paper gives for speed.")
        .layer("- gelu: {approximation: tanh}");
}

}  // namespace dtnn::compiler
