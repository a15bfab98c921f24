/// conv2d, conv2d_backward_data and conv2d_transpose of 3x3 filters by Winograd's algorithm: see
/// winograd_conv.hpp.

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/conv/winograd_conv.hpp"

namespace dtnn::kernels::DTNN_ISA {

template <class T>
void conv2d_winograd_4x4(const Conv2dArguments<T>& a, ThreadTeam& team) {
    winograd(forward_gather(a), a.workspace, team);
}

template <class T>
void conv2d_backward_data_winograd_4x4(const Conv2dBackwardDataArguments<T>& a, ThreadTeam& team) {
    winograd(backward_data_gather(a), a.workspace, team);
}

template <class T>
void conv2d_transpose_winograd_4x4(const Conv2dTransposeArguments<T>& a, ThreadTeam& team) {
    conv2d_backward_data_winograd_4x4<T>(a, team);
}

DTNN_KERNEL_F32(conv2d_winograd_4x4, Conv2dArguments)
DTNN_KERNEL_F32(conv2d_backward_data_winograd_4x4, Conv2dBackwardDataArguments)
DTNN_KERNEL_F32(conv2d_transpose_winograd_4x4, Conv2dTransposeArguments)

}  // namespace dtnn::kernels::DTNN_ISA
