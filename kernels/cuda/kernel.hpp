#pragma once
/// What every .cu of our own kernels begins with.

#include "kernels/cuda/launch.hpp"

/// For both precisions.
#define DTNN_CUDA_KERNEL(function, Arguments)                              \
    template void function<float>(const Arguments<float>&, const Launch&); \
    template void function<double>(const Arguments<double>&, const Launch&);
