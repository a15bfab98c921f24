#include "base/tensor/recurrent_parts.hpp"
#include "compiler/ops/recurrent/recurrent.hpp"

namespace dtnn::compiler {

OpDef define_gru() {
    return recurrent_layer("gru", kGruParts, true)
        .doc(
            "Gated recurrent units: a recurrent layer of three parts (Cho and others, 2014, in the "
            "form of cuDNN and PyTorch).");
}

}  // namespace dtnn::compiler
