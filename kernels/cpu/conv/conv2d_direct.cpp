/// conv2d, conv2d_backward_data and conv2d_transpose for every shape: see gather_conv.hpp.

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/conv/gather_conv.hpp"

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
void conv2d_transpose_direct(const Conv2dTransposeArguments<T>& a, ThreadTeam& team) {
    gather_backward_data<T>(a, team);
}

template <class T>
void dense_direct(const DenseArguments<T>& a, ThreadTeam& team) {
    gather_forward<T>(a, team);
}

template <class T>
void dense_backward_data_direct(const DenseBackwardDataArguments<T>& a, ThreadTeam& team) {
    gather_backward_data<T>(a, team);
}

DTNN_KERNEL(conv2d_direct, Conv2dArguments)
DTNN_KERNEL(conv2d_backward_data_direct, Conv2dBackwardDataArguments)
DTNN_KERNEL(conv2d_transpose_direct, Conv2dTransposeArguments)
DTNN_KERNEL(dense_direct, DenseArguments)
DTNN_KERNEL(dense_backward_data_direct, DenseBackwardDataArguments)

}  // namespace dtnn::kernels::DTNN_ISA
