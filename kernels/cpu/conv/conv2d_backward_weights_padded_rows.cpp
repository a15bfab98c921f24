/// conv2d_backward_weights for few channels and stride 1: see row_outer.hpp.

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/conv/row_outer.hpp"

namespace dtnn::kernels::DTNN_ISA {

template <class T>
void conv2d_backward_weights_padded_rows(const Conv2dBackwardWeightsArguments<T>& a,
                                         ThreadTeam& team) {
    backward_weights_rows(a, team);
}

DTNN_KERNEL(conv2d_backward_weights_padded_rows, Conv2dBackwardWeightsArguments)

}  // namespace dtnn::kernels::DTNN_ISA
