#pragma once
/// The beginning of every .cu of our own kernels.

#include "kernels/cuda/launch.hpp"

/// For both precisions.
#define DTNN_CUDA_KERNEL(function, Arguments)                              \
    template void function<float>(const Arguments<float>&, const Launch&); \
    template void function<double>(const Arguments<double>&, const Launch&);

/// And for those that values are stored in: BFloat16, Float16.
#define DTNN_CUDA_KERNEL_OF_VALUES(function, Arguments)                          \
    DTNN_CUDA_KERNEL(function, Arguments)                                        \
    template void function<BFloat16>(const Arguments<BFloat16>&, const Launch&); \
    template void function<Float16>(const Arguments<Float16>&, const Launch&);
