#include "base/tensor/recurrent_parts.hpp"
#include "compiler/ops/recurrent/recurrent.hpp"

namespace dtnn::compiler {

OpDef define_lstm() {
    return recurrent_layer("lstm", kLstmParts, false)
        .doc(
            "Long short-term memory: a recurrent layer whose cells keep, forget and give by gates "
            "(Hochreiter and Schmidhuber, 1997; Gers and others, 2000). Two ways: `concat: [[lstm: "
            "{units: 64}], [lstm: {units: 64, reversed: true}]]`.");
}

}  // namespace dtnn::compiler
