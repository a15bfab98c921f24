/// Convolutions and dense layers whose factors are rounded to bfloat16: see bf16_conv.hpp,
/// bf16_outer.hpp. The one file that is compiled for the sets above AVX-512 as well.

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/conv/bf16_outer.hpp"

namespace dtnn::kernels::DTNN_ISA {

template <class T>
void conv2d_bf16(const Conv2dArguments<T>& a, ThreadTeam& team) {
    rounded_forward(a, team);
}

template <class T>
void conv2d_backward_data_bf16(const Conv2dBackwardDataArguments<T>& a, ThreadTeam& team) {
    rounded_backward_data(a, team);
}

template <class T>
void conv2d_transpose_bf16(const Conv2dTransposeArguments<T>& a, ThreadTeam& team) {
    rounded_backward_data(a, team);
}

template <class T>
void conv2d_backward_weights_bf16(const Conv2dBackwardWeightsArguments<T>& a, ThreadTeam& team) {
    rounded_backward_weights(a, team);
}

template <class T>
void dense_bf16(const DenseArguments<T>& a, ThreadTeam& team) {
    rounded_forward(a, team);
}

template <class T>
void dense_backward_data_bf16(const DenseBackwardDataArguments<T>& a, ThreadTeam& team) {
    rounded_backward_data(a, team);
}

template <class T>
void dense_backward_weights_bf16(const DenseBackwardWeightsArguments<T>& a, ThreadTeam& team) {
    rounded_backward_weights(a, team);
}

DTNN_KERNEL_F32(conv2d_bf16, Conv2dArguments)
DTNN_KERNEL_F32(conv2d_backward_data_bf16, Conv2dBackwardDataArguments)
DTNN_KERNEL_F32(conv2d_transpose_bf16, Conv2dTransposeArguments)
DTNN_KERNEL_F32(conv2d_backward_weights_bf16, Conv2dBackwardWeightsArguments)
DTNN_KERNEL_F32(dense_bf16, DenseArguments)
DTNN_KERNEL_F32(dense_backward_data_bf16, DenseBackwardDataArguments)
DTNN_KERNEL_F32(dense_backward_weights_bf16, DenseBackwardWeightsArguments)

}  // namespace dtnn::kernels::DTNN_ISA
