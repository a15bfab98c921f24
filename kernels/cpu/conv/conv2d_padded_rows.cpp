/// conv2d, conv2d_backward_data and conv2d_transpose for few channels: see row_conv.hpp.

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/conv/row_conv.hpp"

namespace dtnn::kernels::DTNN_ISA {

template <class T>
void conv2d_padded_rows(const Conv2dArguments<T>& a, ThreadTeam& team) {
    const RowConv<T> c = forward_rows(a);
    convolve_rows(c,
                  RowsWorkspace(a.shape, c.depth, c.filters, c.out_height, c.out_width, sizeof(T),
                                team.size()),
                  team);
}

template <class T>
void conv2d_backward_data_padded_rows(const Conv2dBackwardDataArguments<T>& a, ThreadTeam& team) {
    const RowConv<T> c = backward_data_rows(a);
    convolve_rows(c,
                  RowsWorkspace(a.shape, c.depth, c.filters, c.out_height, c.out_width, sizeof(T),
                                team.size()),
                  team);
}

template <class T>
void conv2d_transpose_padded_rows(const Conv2dTransposeArguments<T>& a, ThreadTeam& team) {
    conv2d_backward_data_padded_rows<T>(a, team);
}

DTNN_KERNEL(conv2d_padded_rows, Conv2dArguments)
DTNN_KERNEL(conv2d_backward_data_padded_rows, Conv2dBackwardDataArguments)
DTNN_KERNEL(conv2d_transpose_padded_rows, Conv2dTransposeArguments)

}  // namespace dtnn::kernels::DTNN_ISA
