#include "base/tensor/recurrent_parts.hpp"
#include "compiler/ops/recurrent/recurrent.hpp"

namespace dtnn::compiler {

OpDef define_rnn() {
    return recurrent_layer("rnn", kRnnParts, false)
        .doc(
            "A recurrent layer: each step gives tanh of a sum of the step's product and of that of "
            "the step before it (Elman, 1990).");
}

}  // namespace dtnn::compiler
