/// conv2d and conv2d_backward_data for every shape: see gather_conv.hpp.

#include "kernels/conv2d.hpp"
#include "kernels/cpu/gather_conv.hpp"
#include "kernels/dense.hpp"

namespace dtnn::kernels::DTNN_ISA {

template <class T>
void conv2d_direct(const Conv2dArguments<T>& a, ThreadTeam& team) {
    gather_forward(a, team);
}

template <class T>
void conv2d_backward_data_direct(const Conv2dBackwardDataArguments<T>& a, ThreadTeam& team) {
    gather_backward_data(a, team);
}

template <class T>
void dense_direct(const DenseArguments<T>& a, ThreadTeam& team) {
    gather_forward<T>(a, team);
}

template <class T>
void dense_backward_data_direct(const DenseBackwardDataArguments<T>& a, ThreadTeam& team) {
    gather_backward_data<T>(a, team);
}

#define DTNN_INSTANTIATE(T)                                                             \
    template void conv2d_direct<T>(const Conv2dArguments<T>&, ThreadTeam&);             \
    template void conv2d_backward_data_direct<T>(const Conv2dBackwardDataArguments<T>&, \
                                                 ThreadTeam&);                          \
    template void dense_direct<T>(const DenseArguments<T>&, ThreadTeam&);               \
    template void dense_backward_data_direct<T>(const DenseBackwardDataArguments<T>&, ThreadTeam&);
DTNN_INSTANTIATE(float)
DTNN_INSTANTIATE(double)
#undef DTNN_INSTANTIATE

}  // namespace dtnn::kernels::DTNN_ISA
