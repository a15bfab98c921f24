/// conv2d_backward_weights of 3x3 filters by Winograd's algorithm: see winograd_outer.hpp.

#include "kernels/cpu/conv/winograd_outer.hpp"

namespace dtnn::kernels::DTNN_ISA {

template <class T>
void conv2d_backward_weights_winograd_4x4(const Conv2dBackwardWeightsArguments<T>& a,
                                          ThreadTeam& team) {
    winograd_outer(a, team);
}

DTNN_KERNEL_F32(conv2d_backward_weights_winograd_4x4, Conv2dBackwardWeightsArguments)

}  // namespace dtnn::kernels::DTNN_ISA
