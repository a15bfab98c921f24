#pragma once
/// A CUDA device that the host plays: our own kernels run as loops, the reference answers for
/// cuDNN and cuBLAS (kernels/cuda). Its memory can be read and written by kernels and copies alone:
/// whoever takes an address of it for the host's ends the program.

#include <memory>

#include "runtime/device/device.hpp"

namespace dtnn::runtime {

std::unique_ptr<Device> open_host_device();

}  // namespace dtnn::runtime
