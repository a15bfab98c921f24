#pragma once
/// From a line of kernels/cuda/catalogue.def to something that runs, as kernels/dispatch.hpp has it
/// for the CPU.

#include <memory>
#include <span>

#include "kernels/catalogue.hpp"
#include "kernels/cuda/launch.hpp"

namespace dtnn::kernels::cuda {

class BoundDeviceKernel {
  public:
    virtual ~BoundDeviceKernel() = default;
    /// Puts the kernel's work on the stream, and returns.
    virtual void run(Stream stream) = 0;
};

/// Pointers are to memory of the device, aligned to 64 bytes (plan::kAlignment). Null when the
/// kernel does not support the problem. Throws MissingAttribute where the problem is not complete.
std::unique_ptr<BoundDeviceKernel> bind(const KernelInfo& kernel, const Problem& problem,
                                        std::span<const void* const> sources,
                                        std::span<void* const> destinations,
                                        std::span<std::byte> workspace);

}  // namespace dtnn::kernels::cuda
