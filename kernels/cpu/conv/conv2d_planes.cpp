/// conv2d, conv2d_backward_data and conv2d_transpose for few channels on both sides and stride 1:
/// see plane_conv.hpp.

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/conv/plane_conv.hpp"

namespace dtnn::kernels::DTNN_ISA {

template <class T>
void conv2d_planes(const Conv2dArguments<T>& a, ThreadTeam& team) {
    convolve_planes(forward_rows(a), PlanesWorkspace::forward(a.shape, sizeof(T), team.size()),
                    team);
}

template <class T>
void conv2d_backward_data_planes(const Conv2dBackwardDataArguments<T>& a, ThreadTeam& team) {
    convolve_planes(backward_data_rows(a),
                    PlanesWorkspace::backward(a.shape, sizeof(T), team.size()), team);
}

template <class T>
void conv2d_transpose_planes(const Conv2dTransposeArguments<T>& a, ThreadTeam& team) {
    conv2d_backward_data_planes<T>(a, team);
}

DTNN_KERNEL(conv2d_planes, Conv2dArguments)
DTNN_KERNEL(conv2d_backward_data_planes, Conv2dBackwardDataArguments)
DTNN_KERNEL(conv2d_transpose_planes, Conv2dTransposeArguments)

}  // namespace dtnn::kernels::DTNN_ISA
