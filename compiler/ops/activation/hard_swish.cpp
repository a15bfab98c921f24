#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {

OpDef define_hard_swish() {
    return elementwise_operator("hard_swish", {}, ElementwiseForm{"x * min(max(x + 3, 0), 6) / 6"})
        .doc("silu made of straight lines: x * relu6(x + 3) / 6 (Howard et al., 2019).")
        .layer("- hard_swish");
}

}  // namespace dtnn::compiler
