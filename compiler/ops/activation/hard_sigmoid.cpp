#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {

/// At -3 and 3 the derivative is taken as 0.
OpDef define_hard_sigmoid() {
    return elementwise_operator("hard_sigmoid", "min(max(x + 3, 0), 6) / 6",
                                "select((y > 0) * (1 > y), 1 / 6, 0)")
        .range(0, 1)
        .doc("sigmoid made of straight lines: relu6(x + 3) / 6 (Howard et al., 2019).")
        .layer("- hard_sigmoid")
        .gives(plan::Prediction::probabilities);
}

}  // namespace dtnn::compiler
