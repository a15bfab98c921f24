#include "compiler/ops/shape/resampling.hpp"

namespace dtnn::compiler {

/// diff_src is diff_dst in the range, zero outside.
OpDef define_slice_backward() {
    return resampling_backward("slice_backward", "slice", "Gradient of slice.")
        .family(Family::shape)
        .kernel_class(KernelClass::copies);
}

}  // namespace dtnn::compiler
