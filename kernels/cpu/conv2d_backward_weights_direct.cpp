/// conv2d_backward_weights and dense_backward_weights for every shape: see outer_conv.hpp.

#include "kernels/conv2d.hpp"
#include "kernels/cpu/outer_conv.hpp"
#include "kernels/dense.hpp"

namespace dtnn::kernels::DTNN_ISA {

template <class T>
void conv2d_backward_weights_direct(const Conv2dBackwardWeightsArguments<T>& a, ThreadTeam& team) {
    outer_backward_weights(a, team);
}

template <class T>
void dense_backward_weights_direct(const DenseBackwardWeightsArguments<T>& a, ThreadTeam& team) {
    outer_backward_weights<T>(a, team);
}

#define DTNN_INSTANTIATE(T)                                                                   \
    template void conv2d_backward_weights_direct<T>(const Conv2dBackwardWeightsArguments<T>&, \
                                                    ThreadTeam&);                             \
    template void dense_backward_weights_direct<T>(const DenseBackwardWeightsArguments<T>&,   \
                                                   ThreadTeam&);
DTNN_INSTANTIATE(float)
DTNN_INSTANTIATE(double)
#undef DTNN_INSTANTIATE

}  // namespace dtnn::kernels::DTNN_ISA
