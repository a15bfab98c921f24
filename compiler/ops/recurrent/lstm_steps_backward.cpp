#include "base/tensor/recurrent_parts.hpp"
#include "compiler/ops/recurrent/recurrent.hpp"

namespace dtnn::compiler {

OpDef define_lstm_steps_backward() {
    return recurrent_steps_backward("lstm_steps_backward", kLstmParts, kLstmParts)
        .doc("Gradient of lstm_steps.");
}

}  // namespace dtnn::compiler
