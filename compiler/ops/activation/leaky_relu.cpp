#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {

/// At 0 the derivative is the slope of negative numbers. y > 0 just where x > 0, since the slope is
/// not negative.
OpDef define_leaky_relu() {
    return elementwise_operator(
               "leaky_relu",
               {number_field("negative_slope", 0.01, "factor of negative numbers", 0)},
               {"select(x > 0, x, negative_slope * x)", "select(y > 0, 1, negative_slope)"})
        .doc("x where it is positive, negative_slope * x elsewhere (Maas, Hannun and Ng, 2013).")
        .layer("- leaky_relu: {negative_slope: 0.2}");
}

}  // namespace dtnn::compiler
