#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {

/// The exponential sees no positive number, so nothing overflows. For x <= 0 the derivative
/// alpha * exp(x) is y + alpha.
OpDef define_elu() {
    return elementwise_operator(
               "elu", {number_field("alpha", 1, "minus the limit of large negative numbers", 0)},
               {"max(x, 0) + alpha * expm1(min(x, 0))", "select(y > 0, 1, y + alpha)"})
        .doc(
            "x where it is positive, alpha * (exp(x) - 1) elsewhere (Clevert, Unterthiner and "
            "Hochreiter, 2016).")
        .layer("- elu: {alpha: 0.5}");
}

}  // namespace dtnn::compiler
