/// Convolutions and dense layers whose factors are rounded to bfloat16: see bf16_conv.hpp,
/// bf16_outer.hpp. The one file that is compiled for the sets above AVX-512 as well.

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/conv/bf16_outer.hpp"

namespace dtnn::kernels::DTNN_ISA {

DTNN_KERNEL_F32(conv2d_bf16, Conv2dArguments) {
    rounded_forward(a, team);
}

DTNN_KERNEL_F32(conv2d_backward_data_bf16, Conv2dBackwardDataArguments) {
    rounded_backward_data(a, team);
}

DTNN_KERNEL_F32(conv2d_transpose_bf16, Conv2dTransposeArguments) {
    rounded_backward_data(a, team);
}

DTNN_KERNEL_F32(conv2d_backward_weights_bf16, Conv2dBackwardWeightsArguments) {
    rounded_backward_weights(a, team);
}

DTNN_KERNEL_F32(dense_bf16, DenseArguments) {
    rounded_forward(a, team);
}

DTNN_KERNEL_F32(dense_backward_data_bf16, DenseBackwardDataArguments) {
    rounded_backward_data(a, team);
}

DTNN_KERNEL_F32(dense_backward_weights_bf16, DenseBackwardWeightsArguments) {
    rounded_backward_weights(a, team);
}

}  // namespace dtnn::kernels::DTNN_ISA
