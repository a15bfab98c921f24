#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {

OpDef define_tanh() {
    return elementwise_operator("tanh", "tanh(x)", "1 - y * y")
        .range(-1, 1)
        .doc("The hyperbolic tangent.")
        .layer("- tanh");
}

}  // namespace dtnn::compiler
