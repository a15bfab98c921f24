#pragma once
/// How convolutions and dense products for devices divide their workspace: for those who book it,
/// and for the kernels. What a library may use comes first, then the sums of chunks (chunks.hpp).

#include <cstddef>
#include <cstdint>

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cuda/chunks.hpp"

namespace dtnn::kernels::cuda {

inline constexpr std::int64_t kScratchStep = 256;  ///< bytes; either part begins at a multiple

constexpr std::int64_t whole_steps(std::int64_t bytes) {
    return (bytes + kScratchStep - 1) / kScratchStep * kScratchStep;
}

/// Bytes of the sums of chunks: `sums` of every filter over the pixels of the result.
constexpr std::int64_t conv_sums_bytes(std::int64_t sums, std::int64_t pixels,
                                       std::int64_t filters) {
    return sums > 0 ? whole_steps(column_sums_of(sums, 1, pixels, filters) * 8) : 0;
}

struct ConvScratch {
    Workspace library, sums;
};

/// `all` has at least the bytes of the sums, which are a multiple of kScratchStep.
inline ConvScratch divide(Workspace all, std::int64_t sums_bytes) {
    const auto sums = std::size_t(sums_bytes);
    const std::size_t library = (all.size() - sums) / kScratchStep * kScratchStep;
    return {all.first(library), all.subspan(library, sums)};
}

}  // namespace dtnn::kernels::cuda
