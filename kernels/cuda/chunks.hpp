#pragma once
/// How sums over many elements are cut: for the kernels, and for those who book their memory.

#include <cstdint>

namespace dtnn::kernels::cuda {

/// Elements of a chunk where one sum goes over very many.
inline constexpr std::int64_t kSumChunk = 4096;

constexpr std::int64_t sum_chunks_of(std::int64_t count) {
    return (count + kSumChunk - 1) / kSumChunk;
}

}  // namespace dtnn::kernels::cuda
