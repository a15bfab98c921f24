#pragma once
/// The classes of kernels that a core reaches different rates with (rates.def): what an operator
/// says of itself, what stands in a plan's steps and what forecasts look up.

#include "plan/enums.hpp"

namespace dtnn::plan {

/// The first three have the machine's general rates.
enum class KernelClass {
    memory,        ///< reads and writes as fast as memory can: memory_bandwidth
    products,      ///< matrix products: product_rate
    convolutions,  ///< convolution_rate
#define KERNEL_CLASS(name, unit, otherwise, doc) name,
#include "plan/forecast/rates.def"
#undef KERNEL_CLASS
};

constexpr auto names_of(KernelClass) {
    return std::to_array<const char*>({
        "memory",
        "products",
        "convolutions",
#define KERNEL_CLASS(name, unit, otherwise, doc) #name,
#include "plan/forecast/rates.def"
#undef KERNEL_CLASS
    });
}

}  // namespace dtnn::plan
