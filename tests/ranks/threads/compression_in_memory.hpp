#pragma once
/// Compressed sums where all ranks' memory is at hand. They have the same bits as those of ranks
/// that are processes, by the same functions.

#include <cstdint>
#include <span>

#include "runtime/comm/communicator.hpp"

namespace dtnn::runtime {

/// `data` are the f32 of each rank and `compressions` what each has given. With one rank nothing
/// changes.
void sum_compressed_in_memory(std::int64_t elements, std::span<void* const> data,
                              std::span<const GradientCompression* const> compressions);

/// The bytes that stand for the exchange's elements * 4 bytes, as plan/rules/compression.hpp
/// compares them.
double compressed_bytes(const GradientCompression& compression, std::int64_t elements);

}  // namespace dtnn::runtime
