#include "base/tensor/recurrent_parts.hpp"
#include "compiler/ops/recurrent/recurrent.hpp"

namespace dtnn::compiler {

OpDef define_gru_steps_backward() {
    return recurrent_steps_backward("gru_steps_backward", kGruParts, kGruGates)
        .doc("Gradient of gru_steps.");
}

}  // namespace dtnn::compiler
