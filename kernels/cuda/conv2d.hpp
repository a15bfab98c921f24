#pragma once
/// Convolutions of our own, as their definition reads (conv2d.cu): for operands that lie in any
/// order and shapes of any extent, 0 too. A dense product is the convolution of one-pixel images.

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cuda/kernel.hpp"

namespace dtnn::kernels::cuda {

DTNN_DECLARE_CUDA_KERNEL(conv2d_direct, Conv2dArguments)
DTNN_DECLARE_CUDA_KERNEL(conv2d_backward_data_direct, Conv2dBackwardDataArguments)
DTNN_DECLARE_CUDA_KERNEL(conv2d_backward_weights_direct, Conv2dBackwardWeightsArguments)

}  // namespace dtnn::kernels::cuda
