#pragma once
/// Transposed convolution: the gradient of a convolution by its source, as a layer with a bias.
/// With [C, F/groups, KH, KW] the layer's weights, the convolution has C filters and F channels, so
/// src is its diff_dst and dst its diff_src; shape and formula are those of conv2d_backward_data.

#include "kernels/arguments/conv2d.hpp"

namespace dtnn::kernels {

template <class T>
struct Conv2dTransposeArguments : Conv2dBackwardDataArguments<T> {
    static Conv2dTransposeArguments bind(const Problem& problem, Sources sources,
                                         Destinations destinations, Workspace scratch);
};

}  // namespace dtnn::kernels
