#include "compiler/ops/elementwise/dropout.hpp"

namespace dtnn::compiler {

OpDef define_spatial_dropout2d() {
    return dropout_layer("spatial_dropout2d", "spatial_dropout2d_apply", true,
                         "probability with which a channel of a sample is dropped")
        .doc(
            "Training only: sets whole channels of a sample to 0 at random and scales the others "
            "by 1 / (1 - rate) (Tompson et al., 2015).")
        .layer("- spatial_dropout2d: {rate: 0.2}");
}

}  // namespace dtnn::compiler
