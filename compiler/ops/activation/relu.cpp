#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {

/// At 0 the derivative is taken as 0.
OpDef define_relu() {
    return elementwise_operator("relu", "max(x, 0)", "y > 0")
        .range(0, {})
        .doc("The positive part: max(x, 0).")
        .layer("- relu");
}

}  // namespace dtnn::compiler
