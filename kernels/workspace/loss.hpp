#pragma once
/// The workspace of the losses: one double for every row or sample, or for every chunk of elements.

#include <cstdint>

namespace dtnn::kernels {

inline constexpr std::int64_t kElementwiseMeanChunk = 4096;

constexpr std::int64_t elementwise_mean_chunks_of(std::int64_t count) {
    return (count + kElementwiseMeanChunk - 1) / kElementwiseMeanChunk;
}

}  // namespace dtnn::kernels
