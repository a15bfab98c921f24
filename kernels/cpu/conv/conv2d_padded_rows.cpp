/// conv2d, conv2d_backward_data and conv2d_transpose for few channels and stride 1: see
/// row_conv.hpp.

#include "kernels/arguments/conv2d_transpose.hpp"
#include "kernels/cpu/conv/row_conv.hpp"

namespace dtnn::kernels::DTNN_ISA {

template <class T>
void conv2d_padded_rows(const Conv2dArguments<T>& a, ThreadTeam& team) {
    const ConvShape& s = a.shape;
    RowConv<T> c;
    c.batch = s.batch;
    c.kernel_height = s.kernel_height;
    c.kernel_width = s.kernel_width;
    c.height = s.height;
    c.width = s.width;
    c.depth = s.channels;
    c.out_height = s.out_height;
    c.out_width = s.out_width;
    c.filters = s.filters;
    c.pad_top = s.pad_top;
    c.pad_left = s.pad_left;
    c.src = a.src;
    c.dst = a.dst;
    c.weights = a.weights;
    c.bias = a.bias;
    c.residual = a.residual;
    c.relu = a.relu;
    if (a.written) c.epilogue = &a.epilogue;
    c.statistics = a.statistics;
    c.workspace = a.workspace.data();
    convolve_rows(
        c, RowsWorkspace(s, c.depth, c.filters, c.out_height, c.out_width, sizeof(T), team.size()),
        team);
}

template <class T>
void conv2d_backward_data_padded_rows(const Conv2dBackwardDataArguments<T>& a, ThreadTeam& team) {
    const ConvShape& s = a.shape;
    RowConv<T> c;
    c.batch = s.batch;
    c.kernel_height = s.kernel_height;
    c.kernel_width = s.kernel_width;
    c.height = s.out_height;
    c.width = s.out_width;
    c.depth = s.filters;
    c.out_height = s.height;
    c.out_width = s.width;
    c.filters = s.channels;
    c.pad_top = s.kernel_height - 1 - s.pad_top;
    c.pad_left = s.kernel_width - 1 - s.pad_left;
    c.src = a.diff_dst;
    c.dst = a.diff_src;
    c.weights = a.weights;
    c.transposed = true;
    c.mask = a.mask;
    c.bias = a.bias;
    c.relu = a.relu;
    c.workspace = a.workspace.data();
    convolve_rows(
        c, RowsWorkspace(s, c.depth, c.filters, c.out_height, c.out_width, sizeof(T), team.size()),
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
