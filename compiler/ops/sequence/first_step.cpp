#include "compiler/ops/sequence/sequence.hpp"

namespace dtnn::compiler {

/// dst = src[:, 0].
OpDef define_first_step() {
    return one_step("first_step", false)
        .doc(
            "The features of the first step of a sequence: what a model reads that puts a token "
            "for the whole in front.")
        .layer("- first_step");
}

}  // namespace dtnn::compiler
