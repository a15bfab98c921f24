#pragma once
/// The most bytes of files that are read as a whole: far above what any honest one has, and below
/// what would take a machine down. docs/files.md has all bounds in one table.

#include <cstddef>
#include <cstdint>

namespace dtnn {

/// The plan of a network of 100,000 layers has half a gigabyte.
inline constexpr std::int64_t kMostPlanBytes = std::int64_t{8} << 30;
/// Tensors: weights, checkpoints, arrays.
inline constexpr std::int64_t kMostTensorBytes = std::int64_t{1} << 40;
inline constexpr std::int64_t kMostHistoryBytes = std::int64_t{8} << 30;
/// Name maps, the state of a checkpoint, a table of times.
inline constexpr std::int64_t kMostSmallFileBytes = std::int64_t{64} << 20;

/// The name of a tensor or an array, in files that are read and in files that are written.
inline constexpr std::size_t kMostTensorName = 4000;
/// The path of a member of an archive, as Linux has it.
inline constexpr std::size_t kMostMemberPath = 4096;

}  // namespace dtnn
