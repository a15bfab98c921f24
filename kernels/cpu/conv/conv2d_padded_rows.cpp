/// conv2d, conv2d_backward_data and conv2d_transpose for few channels: see row_conv.hpp.

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/conv/row_conv.hpp"

namespace dtnn::kernels::DTNN_ISA {

DTNN_KERNEL(conv2d_padded_rows, Conv2dArguments) {
    const RowConv<T> c = forward_rows(a);
    convolve_rows(c,
                  RowsWorkspace(a.shape, c.depth, c.filters, c.out_height, c.out_width, sizeof(T),
                                team.size()),
                  team);
}

DTNN_KERNEL(conv2d_backward_data_padded_rows, Conv2dBackwardDataArguments) {
    const RowConv<T> c = backward_data_rows(a);
    convolve_rows(c,
                  RowsWorkspace(a.shape, c.depth, c.filters, c.out_height, c.out_width, sizeof(T),
                                team.size()),
                  team);
}

DTNN_KERNEL(conv2d_transpose_padded_rows, Conv2dTransposeArguments) {
    conv2d_backward_data_padded_rows(a, team);
}

}  // namespace dtnn::kernels::DTNN_ISA
