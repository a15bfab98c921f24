#pragma once
/// The workspace of layer_norm_backward, group_norm and local_response_norm; shared by the
/// catalogue, which books it, and the kernels, which use it.

#include <cstdint>

#include "kernels/workspace/batch_norm.hpp"

namespace dtnn::kernels {

/// Up to this many numbers in a row, each piece of the rows has its own sums of gamma's and beta's
/// gradients; beyond, a pass of its own splits the numbers over the threads.
inline constexpr std::int64_t kLayerNormOwnSums = 4096;

constexpr std::int64_t layer_norm_backward_bytes(std::int64_t length, int threads) {
    return length <= kLayerNormOwnSums ? ThreadTeam::most_pieces(threads) * 2 * length * 8 : 0;
}

/// One thread's sums, two per position of a group of the flat image, and four constants.
inline constexpr std::int64_t kGroupNormConstants = 4;
constexpr std::int64_t group_norm_bytes_of_thread(std::int64_t channels,
                                                  std::int64_t element_size) {
    return batch_norm_period(channels) * (2 * 8 + kGroupNormConstants * element_size);
}

/// Then, for backward, two doubles for every channel of every sample.
constexpr std::int64_t group_norm_backward_bytes(std::int64_t samples, std::int64_t channels,
                                                 std::int64_t element_size, std::int64_t threads) {
    return threads * group_norm_bytes_of_thread(channels, element_size) +
           2 * samples * channels * 8;
}

/// Elements of one thread: a pixel's channels with the window's edges around them, and as many
/// numbers again.
constexpr std::int64_t local_response_elements(std::int64_t channels, std::int64_t size) {
    return 2 * channels + size;
}

}  // namespace dtnn::kernels
