#pragma once
/// The beginning of every .cu of our own kernels.

#include "kernels/arguments/arguments.hpp"
#include "kernels/cuda/launch.hpp"

/// Begins a kernel for both precisions, of the arguments `a` and the grid `launch`.
#define DTNN_CUDA_KERNEL(function, Arguments) \
    DTNN_DEFINE_KERNEL(function, Arguments, const Launch, launch, DTNN_OF_FLOATS)

#define DTNN_CUDA_KERNEL_OF_FLOAT(function, Arguments) \
    DTNN_DEFINE_KERNEL(function, Arguments, const Launch, launch, DTNN_OF_FLOAT)

/// And for those that values are stored in: BFloat16, Float16.
#define DTNN_CUDA_KERNEL_OF_VALUES(function, Arguments) \
    DTNN_DEFINE_KERNEL(function, Arguments, const Launch, launch, DTNN_OF_VALUES)

/// The declaration of what is defined for values.
#define DTNN_DECLARE_CUDA_KERNEL(function, Arguments)                  \
    DTNN_DECLARE_KERNEL(function, Arguments, const Launch)             \
    void function(const Arguments<BFloat16>& a, const Launch& launch); \
    void function(const Arguments<Float16>& a, const Launch& launch);
