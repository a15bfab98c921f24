#pragma once
/// Convolutions of our own, as their definition reads (conv2d.cu): for operands that lie in any
/// order and shapes of any extent, 0 too. A dense product is the convolution of one-pixel images.

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cuda/launch.hpp"

namespace dtnn::kernels::cuda {

template <class T>
void conv2d_direct(const Conv2dArguments<T>& a, const Launch& launch);
template <class T>
void conv2d_backward_data_direct(const Conv2dBackwardDataArguments<T>& a, const Launch& launch);
template <class T>
void conv2d_backward_weights_direct(const Conv2dBackwardWeightsArguments<T>& a,
                                    const Launch& launch);
template <class T>
void conv2d_transpose_direct(const Conv2dTransposeArguments<T>& a, const Launch& launch);

}  // namespace dtnn::kernels::cuda
