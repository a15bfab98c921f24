#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {

/// log(1 / (1 + exp(-x))) = min(x, 0) - log1p(exp(-|x|)): the exponential is never large. The
/// derivative 1 - sigmoid(x) is 1 - exp(y).
OpDef define_log_sigmoid() {
    return elementwise_operator("log_sigmoid", "min(x, 0) - log1p(exp(-abs(x)))", "-expm1(y)")
        .range({}, 0)
        .doc("The logarithm of the logistic function, for every x: log(sigmoid(x)).")
        .layer("- log_sigmoid")
        .gives(plan::Prediction::log_probabilities);
}

}  // namespace dtnn::compiler
