#pragma once
/// Norms of parameters and gradients are summed in double over chunks, each by one thread, and the
/// chunks in order: the result does not depend on the number of threads. The workspace has the
/// sums of every chunk.

#include <cstdint>

namespace dtnn::kernels {

inline constexpr std::int64_t kNormChunk = 4096;

constexpr std::int64_t norm_chunks_of(std::int64_t count) {
    return (count + kNormChunk - 1) / kNormChunk;
}

}  // namespace dtnn::kernels
