/// conv2d, conv2d_backward_data and conv2d_transpose for few channels on both sides and stride 1:
/// see plane_conv.hpp.

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/conv/plane_conv.hpp"

namespace dtnn::kernels::DTNN_ISA {

DTNN_KERNEL(conv2d_planes, Conv2dArguments) {
    convolve_planes(forward_rows(a), PlanesWorkspace::forward(a.shape, sizeof(T), team.size()),
                    team);
}

DTNN_KERNEL(conv2d_backward_data_planes, Conv2dBackwardDataArguments) {
    convolve_planes(backward_data_rows(a),
                    PlanesWorkspace::backward(a.shape, sizeof(T), team.size()), team);
}

DTNN_KERNEL(conv2d_transpose_planes, Conv2dTransposeArguments) {
    conv2d_backward_data_planes(a, team);
}

}  // namespace dtnn::kernels::DTNN_ISA
