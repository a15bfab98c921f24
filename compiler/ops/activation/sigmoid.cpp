#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {

OpDef define_sigmoid() {
    return elementwise_operator("sigmoid", "sigmoid(x)", "y * (1 - y)")
        .range(0, 1)
        .doc("The logistic function: 1 / (1 + exp(-x)).")
        .layer("- sigmoid")
        .gives(plan::Prediction::probabilities);
}

}  // namespace dtnn::compiler
