#include "compiler/ops/shape/resampling.hpp"

namespace dtnn::compiler {

/// diff_src is diff_dst without its border.
OpDef define_zero_pad2d_backward() {
    return resampling_backward("zero_pad2d_backward", "zero_pad2d", "Gradient of zero_pad2d.")
        .family(Family::shape)
        .kernel_class(KernelClass::copies);
}

}  // namespace dtnn::compiler
