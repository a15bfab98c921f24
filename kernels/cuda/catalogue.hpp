#pragma once
/// The kernels for CUDA devices as data (catalogue.def).

#include <span>

#include "kernels/catalogue.hpp"

namespace dtnn::kernels::cuda {

std::span<const KernelInfo> catalogue();

}  // namespace dtnn::kernels::cuda
