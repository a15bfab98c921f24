#pragma once
/// From a catalogue entry to something that runs: the operands are bound once, when a plan is
/// loaded; running a bound kernel makes no decision and allocates nothing.

#include <memory>
#include <span>

#include "kernels/catalogue.hpp"

namespace dtnn::kernels {

class ThreadTeam;

class BoundKernel {
  public:
    virtual ~BoundKernel() = default;
    virtual void run(ThreadTeam& team) = 0;
};

/// Whether this build has the kernels of an instruction set (DTNN_INSTRUCTION_SETS of CMake).
/// The reference kernels are there for every one.
bool is_built(Isa isa);

/// Binds `kernel` to `problem` and to memory. Pointers are aligned to 64 bytes and stay valid as
/// long as the result; sources and destinations are in the operator's documented order. Returns
/// null when the kernel does not support the problem (the caller has asked `refusal` before, so
/// that is the caller's bug), or when it is not built for the problem's instruction set or this
/// machine lacks that. Throws MissingAttribute where the problem is not complete.
std::unique_ptr<BoundKernel> bind(const KernelInfo& kernel, const Problem& problem,
                                  std::span<const void* const> sources,
                                  std::span<void* const> destinations,
                                  std::span<std::byte> workspace);

}  // namespace dtnn::kernels
