#pragma once
/// The workspace of the losses: one double for every sample, or for every chunk of elements.

#include <cstdint>

namespace dtnn::kernels {

inline constexpr std::int64_t kMeanSquaredErrorChunk = 4096;

constexpr std::int64_t mean_squared_error_chunks_of(std::int64_t count) {
    return (count + kMeanSquaredErrorChunk - 1) / kMeanSquaredErrorChunk;
}

}  // namespace dtnn::kernels
