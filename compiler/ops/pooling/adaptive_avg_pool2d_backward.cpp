#include "compiler/ops/shape/resampling.hpp"

namespace dtnn::compiler {

/// Each diff_dst is shared equally by the cells of its window.
OpDef define_adaptive_avg_pool2d_backward() {
    return resampling_backward("adaptive_avg_pool2d_backward", "adaptive_avg_pool2d",
                               "Gradient of adaptive_avg_pool2d.")
        .family(Family::pooling)
        .kernel_class(KernelClass::window_pooling);
}

}  // namespace dtnn::compiler
