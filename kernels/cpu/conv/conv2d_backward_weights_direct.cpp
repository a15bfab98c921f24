/// conv2d_backward_weights and dense_backward_weights for every shape: see outer_conv.hpp.

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/conv/outer_conv.hpp"

namespace dtnn::kernels::DTNN_ISA {

DTNN_KERNEL(conv2d_backward_weights_direct, Conv2dBackwardWeightsArguments) {
    outer_backward_weights(a, team);
}

DTNN_KERNEL(dense_backward_weights_direct, DenseBackwardWeightsArguments) {
    outer_backward_weights<T>(a, team);
}

}  // namespace dtnn::kernels::DTNN_ISA
