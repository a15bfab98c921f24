/// conv2d_backward_weights of 3x3 filters by Winograd's algorithm: see winograd_outer.hpp.

#include "kernels/cpu/conv/winograd_outer.hpp"

namespace dtnn::kernels::DTNN_ISA {

DTNN_KERNEL_F32(conv2d_backward_weights_winograd_4x4, Conv2dBackwardWeightsArguments) {
    winograd_outer(a, team);
}

}  // namespace dtnn::kernels::DTNN_ISA
