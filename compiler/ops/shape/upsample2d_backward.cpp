#include "compiler/ops/shape/resampling.hpp"

namespace dtnn::compiler {

/// Every cell of diff_src sums what it went into, with the same weights.
OpDef define_upsample2d_backward() {
    return resampling_backward("upsample2d_backward", "upsample2d", "Gradient of upsample2d.")
        .family(Family::shape)
        .kernel_class(KernelClass::copies);
}

}  // namespace dtnn::compiler
