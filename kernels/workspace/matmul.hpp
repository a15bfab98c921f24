#pragma once
/// The workspace of matmul; shared by the catalogue, which books it, and the kernel, which uses it.
/// It does not grow with the matrices.

#include <cstdint>

namespace dtnn::kernels {

/// A block of the result, and how much of what is summed over is taken at a time.
inline constexpr std::int64_t kMatmulRows = 64, kMatmulColumns = 64, kMatmulDepth = 256;

/// Elements of a thread: a panel of the second matrix, and the block.
inline constexpr std::int64_t kMatmulElements = kMatmulColumns * (kMatmulDepth + kMatmulRows);

}  // namespace dtnn::kernels
