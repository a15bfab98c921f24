/// conv2d, conv2d_backward_data and conv2d_transpose for every shape: see gather_conv.hpp.

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/conv/gather_conv.hpp"

namespace dtnn::kernels::DTNN_ISA {

DTNN_KERNEL(conv2d_direct, Conv2dArguments) {
    gather_forward(a, team);
}

DTNN_KERNEL(conv2d_backward_data_direct, Conv2dBackwardDataArguments) {
    gather_backward_data(a, team);
}

DTNN_KERNEL(conv2d_transpose_direct, Conv2dTransposeArguments) {
    gather_backward_data<T>(a, team);
}

DTNN_KERNEL(dense_direct, DenseArguments) {
    gather_forward<T>(a, team);
}

DTNN_KERNEL(dense_backward_data_direct, DenseBackwardDataArguments) {
    gather_backward_data<T>(a, team);
}

}  // namespace dtnn::kernels::DTNN_ISA
