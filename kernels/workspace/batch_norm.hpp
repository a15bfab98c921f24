#pragma once
/// How the batch norm kernels see their operands and their workspace; shared by the catalogue,
/// which books it, and the kernels, which use it.
///
/// Channels last, an image is one flat row of pixels * channels numbers. The kernels walk it in
/// groups of `period` elements, a multiple of the channels and of 16: so that every vector of a
/// group, also with few or odd channels, meets the same channels in every group, and constants per
/// position need no index arithmetic. Where a channel has several neighbours, all of them count as
/// channels here.

#include <cstdint>

#include "kernels/thread_team.hpp"

namespace dtnn::kernels {

constexpr std::int64_t batch_norm_period(std::int64_t channels) {
    std::int64_t period = channels;
    while (period % 16 != 0)
        period *= 2;
    return period < 32 ? 32 : period;
}

/// Doubles of one piece's partial sums: two per position.
constexpr std::int64_t batch_norm_sums(std::int64_t channels) {
    return 2 * batch_norm_period(channels);
}

/// Constants per position, in the kernel's type: at most six arrays.
inline constexpr std::int64_t kBatchNormConstants = 6;

constexpr std::int64_t batch_norm_workspace(std::int64_t channels, std::int64_t element_size,
                                            int threads) {
    return ThreadTeam::most_pieces(threads) * batch_norm_sums(channels) * 8 +
           kBatchNormConstants * batch_norm_period(channels) * element_size;
}

}  // namespace dtnn::kernels
