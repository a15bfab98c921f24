#include "base/tensor/recurrent_parts.hpp"
#include "compiler/ops/recurrent/recurrent.hpp"

namespace dtnn::compiler {

OpDef define_rnn_steps_backward() {
    return recurrent_steps_backward("rnn_steps_backward", kRnnParts, kRnnParts)
        .doc("Gradient of rnn_steps.");
}

}  // namespace dtnn::compiler
