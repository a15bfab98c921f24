/// The definitions that the rows of activations.def stand for.

#include "compiler/ops/elementwise/elementwise.hpp"

namespace dtnn::compiler {

#define DTNN_ACTIVATION(name, expression, derivative, text, ...)                        \
    OpDef define_##name() {                                                             \
        return elementwise_operator(#name, {}, ElementwiseForm{expression, derivative}) \
            .doc(text)                                                                  \
            .layer("- " #name) __VA_ARGS__;                                             \
    }
#include "compiler/ops/activation/activations.def"
#undef DTNN_ACTIVATION

}  // namespace dtnn::compiler
