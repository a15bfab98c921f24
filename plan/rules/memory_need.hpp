#pragma once
/// The memory that a rank takes, by a plan.

#include <cstdint>
#include <string>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// Bytes. Samples that a dataset keeps are shared by no ranks.
struct MemoryNeed {
    /// Bytes of the machine's memory: the arena, unless the device has memory of its own; prepared
    /// batches, what metrics keep, samples; for such a device the host's side of copies.
    std::int64_t host = 0;
    /// The part of it that is taken in any case. The rest is what the user's own files may come to:
    /// a limit that is kept, not a forecast.
    std::int64_t certain = 0;
    /// Bytes of the device's own memory: the arena. What its driver and libraries take for
    /// themselves comes on top.
    std::int64_t device = 0;

    /// The bytes that a memory budget is about: the device's where it has memory of its own.
    std::int64_t bounded() const { return device > 0 ? device : host; }
};

MemoryNeed memory_need(const Plan& plan);

/// "12.3 MiB a rank", "5.1 MiB a rank, at most 261.0 MiB"; of a device with memory of its own
/// "1.2 GiB of the device and 310.0 MiB a rank".
std::string need_words(const MemoryNeed& need);

/// The memory of a rank beside what its plan says: program, libraries, MPI's buffers.
inline constexpr std::int64_t kBesidePlan = std::int64_t{512} << 20;
/// The memory that a batch system is asked for, for a rank whose plan says so many bytes of the
/// host, in MiB.
std::int64_t asked_mebibytes(std::int64_t host);

/// The most that a device with memory of its own copies at once of what is no input or output.
inline constexpr std::int64_t kCopiedAtOnce = std::int64_t{8} << 20;

}  // namespace dtnn::plan
