#pragma once
/// Kernels of devices on a device, where there is one.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/dispatch.hpp"

namespace dtnn::kernels::conformance {

/// Why kernels cannot be run on a device; empty: they can. The first call looks for it.
const std::string& no_device();

/// Whether a stand-in has the device's place (tests/gpu/stand_in.c, DTNN_LAUNCHES_ONLY): kernels do
/// on the host what they do there, and nothing is computed.
bool launches_only();

/// A kernel bound to copies, on the device, of the host's operands, each with its guards on both
/// sides.
class OnDevice {
  public:
    /// `guard` bytes before and behind every operand are the operand's own. Null where the kernel
    /// refuses.
    static std::unique_ptr<OnDevice> bind(const KernelInfo& kernel, const Problem& problem,
                                          std::span<const void* const> sources,
                                          std::span<void* const> destinations,
                                          std::span<std::byte> workspace, std::int64_t guard);
    virtual ~OnDevice() = default;
    /// Copies everything there, runs, and copies everything back.
    virtual void run() = 0;
};

}  // namespace dtnn::kernels::conformance
