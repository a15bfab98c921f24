#pragma once
/// How sums over many elements are cut: for the kernels, and for those who book their memory.

#include <cstdint>

namespace dtnn::kernels::cuda {

/// Elements of a chunk where one sum goes over very many.
inline constexpr std::int64_t kSumChunk = 4096;

constexpr std::int64_t sum_chunks_of(std::int64_t count) {
    return (count + kSumChunk - 1) / kSumChunk;
}

/// Pixels of a chunk where each channel of each sample has a sum of its own.
inline constexpr std::int64_t kPlaneChunk = 1024;

constexpr std::int64_t plane_chunks_of(std::int64_t pixels) {
    return (pixels + kPlaneChunk - 1) / kPlaneChunk;
}

}  // namespace dtnn::kernels::cuda
