#include "compiler/ops/sequence/sequence.hpp"

namespace dtnn::compiler {

/// dst = src[:, steps - 1].
OpDef define_last_step() {
    return one_step("last_step", true)
        .doc("The features of the last step of a sequence, which has seen all others.")
        .layer("- last_step");
}

}  // namespace dtnn::compiler
