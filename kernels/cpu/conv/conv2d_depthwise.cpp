/// conv2d, conv2d_backward_data and conv2d_transpose with one channel a group: see
/// depthwise_conv.hpp.

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/conv/depthwise_conv.hpp"

namespace dtnn::kernels::DTNN_ISA {

DTNN_KERNEL(conv2d_depthwise, Conv2dArguments) {
    const ConvShape& s = a.shape;
    DepthwiseConv<T> conv;
    conv.batch = s.batch;
    conv.row.weights = a.weights;
    conv.y = {s.height, s.out_height, s.kernel_height,  s.stride_height,
              1,        -s.pad_top,   s.dilation_height};
    conv.x = {s.width, s.out_width, s.kernel_width,  s.stride_width,
              1,       -s.pad_left, s.dilation_width};
    conv.row.channels = s.filters;
    conv.repeat = s.group_filters();
    conv.row.src = a.src;
    conv.row.dst = a.dst;
    conv.row.bias = a.bias;
    conv.row.residual = a.residual;
    conv.row.relu = a.relu;
    if (a.written) conv.epilogue = &a.epilogue;
    depthwise(conv, DepthwiseWorkspace(s, sizeof(T), team.size(), a.statistics != nullptr),
              a.workspace, a.statistics, team);
}

DTNN_KERNEL(conv2d_backward_data_depthwise, Conv2dBackwardDataArguments) {
    const ConvShape& s = a.shape;
    DepthwiseConv<T> conv;
    conv.batch = s.batch;
    conv.row.weights = a.weights;
    conv.y = {s.out_height,    s.height,  s.kernel_height,   1,
              s.stride_height, s.pad_top, -s.dilation_height};
    conv.x = {s.out_width,    s.width,    s.kernel_width,   1,
              s.stride_width, s.pad_left, -s.dilation_width};
    conv.row.channels = s.filters;
    conv.repeat = s.group_filters();
    conv.backward = true;
    conv.row.src = a.diff_dst;
    conv.row.dst = a.diff_src;
    conv.row.mask = a.mask;
    conv.row.bias = a.bias;
    conv.row.relu = a.relu;
    depthwise(conv, DepthwiseWorkspace(s, sizeof(T), team.size(), false), a.workspace, nullptr,
              team);
}

DTNN_KERNEL(conv2d_transpose_depthwise, Conv2dTransposeArguments) {
    conv2d_backward_data_depthwise(a, team);
}

}  // namespace dtnn::kernels::DTNN_ISA
