#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {

OpDef define_arctanh() {
    return elementwise_operator("arctanh", {}, ElementwiseForm{"atanh(x)"})
        .doc(
            "The inverse of the hyperbolic tangent, for numbers between -1 and 1; not-a-number "
            "beyond.")
        .layer("- arctanh");
}

}  // namespace dtnn::compiler
