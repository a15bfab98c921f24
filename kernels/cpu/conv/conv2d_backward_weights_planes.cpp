/// conv2d_backward_weights for few channels on both sides and stride 1: see plane_outer.hpp.

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/conv/plane_outer.hpp"

namespace dtnn::kernels::DTNN_ISA {

DTNN_KERNEL(conv2d_backward_weights_planes, Conv2dBackwardWeightsArguments) {
    backward_weights_planes(a, team);
}

}  // namespace dtnn::kernels::DTNN_ISA
