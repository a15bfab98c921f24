/// conv2d_backward_weights and dense_backward_weights for every shape: see outer_conv.hpp.

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/conv/outer_conv.hpp"

namespace dtnn::kernels::DTNN_ISA {

template <class T>
void conv2d_backward_weights_direct(const Conv2dBackwardWeightsArguments<T>& a, ThreadTeam& team) {
    outer_backward_weights(a, team);
}

template <class T>
void dense_backward_weights_direct(const DenseBackwardWeightsArguments<T>& a, ThreadTeam& team) {
    outer_backward_weights<T>(a, team);
}

DTNN_KERNEL(conv2d_backward_weights_direct, Conv2dBackwardWeightsArguments)
DTNN_KERNEL(dense_backward_weights_direct, DenseBackwardWeightsArguments)

}  // namespace dtnn::kernels::DTNN_ISA
