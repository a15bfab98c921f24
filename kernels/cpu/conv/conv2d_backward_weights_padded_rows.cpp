/// conv2d_backward_weights for few channels and stride 1: see row_outer.hpp.

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/conv/row_outer.hpp"

namespace dtnn::kernels::DTNN_ISA {

DTNN_KERNEL(conv2d_backward_weights_padded_rows, Conv2dBackwardWeightsArguments) {
    backward_weights_rows(a, team);
}

}  // namespace dtnn::kernels::DTNN_ISA
