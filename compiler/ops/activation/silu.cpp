#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {

OpDef define_silu() {
    return elementwise_operator("silu", {}, ElementwiseForm{"x * sigmoid(x)"})
        .doc("x * sigmoid(x), also called swish (Elfwing, Uchibe and Doya, 2018).")
        .layer("- silu");
}

}  // namespace dtnn::compiler
