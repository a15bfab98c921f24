/// conv2d, conv2d_backward_data and conv2d_transpose of 3x3 filters by Winograd's algorithm: see
/// winograd_conv.hpp.

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/conv/winograd_conv.hpp"

namespace dtnn::kernels::DTNN_ISA {

DTNN_KERNEL_F32(conv2d_winograd_4x4, Conv2dArguments) {
    winograd(forward_gather(a), a.workspace, team);
}

DTNN_KERNEL_F32(conv2d_backward_data_winograd_4x4, Conv2dBackwardDataArguments) {
    winograd(backward_data_gather(a), a.workspace, team);
}

DTNN_KERNEL_F32(conv2d_transpose_winograd_4x4, Conv2dTransposeArguments) {
    conv2d_backward_data_winograd_4x4(a, team);
}

}  // namespace dtnn::kernels::DTNN_ISA
