#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {

OpDef define_log() {
    return elementwise_operator("log", {}, ElementwiseForm{"log(x)"})
        .doc("The natural logarithm; minus infinity at 0, not-a-number below.")
        .layer("- log");
}

}  // namespace dtnn::compiler
