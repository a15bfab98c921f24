#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {

/// log(1 + exp(z)) = max(z, 0) + log1p(exp(-|z|)): the exponential is never large. The derivative
/// sigmoid(z) is 1 - exp(-z') with z' = beta * y.
OpDef define_softplus() {
    Field beta = number_field("beta", 1, "sharpness: relu for large ones", 0);
    beta.exclusive_minimum = true;
    return elementwise_operator(
               "softplus", {beta},
               {"(max(beta * x, 0) + log1p(exp(-abs(beta * x)))) / beta", "-expm1(-beta * y)"})
        .range(0, {})
        .doc("A smooth relu: log(1 + exp(beta * x)) / beta.")
        .layer("- softplus: {beta: 2}");
}

}  // namespace dtnn::compiler
