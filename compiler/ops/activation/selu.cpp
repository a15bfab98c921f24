#include <fmt/format.h>

#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {

/// The two numbers are those of the paper, to double precision.
OpDef define_selu() {
    constexpr double kAlpha = 1.6732632423543772848170429916717;
    constexpr double kScale = 1.0507009873554804934193349852946;
    const std::string infix =
        fmt::format("{} * max(x, 0) + {} * expm1(min(x, 0))", kScale, kScale * kAlpha);
    const std::string derivative =
        fmt::format("select(y > 0, {}, y + {})", kScale, kScale * kAlpha);
    return elementwise_operator("selu", infix.c_str(), derivative.c_str())
        .doc(
            "elu with the alpha and the factor for which activations keep mean 0 and deviation 1 "
            "from layer to layer (Klambauer et al., 2017); use lecun_normal weights with it.")
        .layer("- selu");
}

}  // namespace dtnn::compiler
