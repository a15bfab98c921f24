#pragma once
/// How convolutions and dense products for devices divide their workspace: for those who book it,
/// and for the kernels. What a library may use comes first, where its own alignment begins
/// (cuBLASLt refuses a workspace that is not aligned to 256 bytes), then the sums of chunks
/// (chunks.hpp).

#include <cstddef>
#include <cstdint>

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cuda/chunks.hpp"

namespace dtnn::kernels::cuda {

inline constexpr std::int64_t kScratchStep = 256;  ///< bytes

constexpr std::int64_t whole_steps(std::int64_t bytes) {
    return (bytes + kScratchStep - 1) / kScratchStep * kScratchStep;
}

/// Bytes of the sums of chunks: of every filter over the pixels of the result, if there is a bias.
constexpr std::int64_t bias_sums_bytes(bool bias, std::int64_t pixels, std::int64_t filters) {
    return bias ? whole_steps(column_sums_of(1, 1, pixels, filters) * 8) : 0;
}

struct ConvScratch {
    Workspace library, sums;
};

/// The bytes that are booked so that a library has as many as these.
constexpr std::int64_t library_bytes(std::int64_t bytes) {
    return whole_steps(bytes) + kScratchStep;
}

/// The part of a room of library_bytes that begins at a multiple of kScratchStep. Wherever the room
/// lies it has as many bytes: what a library plans depends on them.
inline Workspace aligned(Workspace room) {
    const auto past = std::size_t(reinterpret_cast<std::uintptr_t>(room.data()) % kScratchStep);
    const std::size_t skipped = past == 0 ? 0 : kScratchStep - past;
    if (room.size() < kScratchStep) return room.first(0);
    return room.subspan(skipped, (room.size() - kScratchStep) / kScratchStep * kScratchStep);
}

/// `all` has at least the bytes of the sums, and begins and ends at a multiple of 64 bytes.
inline ConvScratch divide(Workspace all, std::int64_t sums_bytes) {
    const std::size_t library = all.size() - std::size_t(sums_bytes);
    return {aligned(all.first(library)), all.subspan(library)};
}

}  // namespace dtnn::kernels::cuda
