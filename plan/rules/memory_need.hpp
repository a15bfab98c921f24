#pragma once
/// What a rank takes of memory, by a plan.

#include <cstdint>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// Bytes. Samples that a dataset keeps are shared by no ranks.
struct MemoryNeed {
    /// Of the machine's memory: the arena, unless the device has memory of its own; prepared
    /// batches, what metrics keep, samples; for such a device the host's side of copies.
    std::int64_t host = 0;
    /// Of the device's own memory: the arena. What its driver and libraries take for themselves
    /// comes on top.
    std::int64_t device = 0;

    /// What a memory budget is about: the device's memory where it has its own.
    std::int64_t bounded() const { return device > 0 ? device : host; }
};

MemoryNeed memory_need(const Plan& plan);

/// What a device with memory of its own copies at once of what is no input or output.
inline constexpr std::int64_t kCopiedAtOnce = std::int64_t{8} << 20;

}  // namespace dtnn::plan
