#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {

/// At 0 and 6 the derivative is taken as 0.
OpDef define_relu6() {
    return elementwise_operator("relu6", "min(max(x, 0), 6)", "(y > 0) * (6 > y)")
        .range(0, 6)
        .doc("relu that ends at 6: min(max(x, 0), 6) (Krizhevsky, 2010).")
        .layer("- relu6");
}

}  // namespace dtnn::compiler
