#pragma once
/// How the "depthwise" convolution kernels divide their workspace; see conv_workspace.hpp. All
/// offsets are bytes, multiples of 64.

#include <cstdint>

#include "kernels/workspace/conv.hpp"

namespace dtnn::kernels {

/// Why the kernels do not suit the shape: they take one channel a group, with any number of
/// filters.
inline const char* depthwise_refusal(const ConvShape& s) {
    if (s.groups == 1) return "it has no groups";
    if (s.group_channels() != 1) return "a group is more than one channel";
    return nullptr;
}

/// conv2d and conv2d_backward_data: for each thread the taps of a row's columns and those of the
/// rows of a band, forward its sums for the statistics, and, with several filters a channel, the
/// rows of the source with every number repeated, or a row of the gradient before it is summed.
struct DepthwiseWorkspace {
    static constexpr std::int64_t kTapBytes = 32;
    static constexpr std::int64_t kBandRows = 16;  ///< at most
    std::int64_t taps_per_thread = 0, statistics = 0, statistics_per_thread = 0;
    std::int64_t rows = 0, rows_per_thread = 0, bytes = 0;

    __attribute__((always_inline))
    DepthwiseWorkspace(const ConvShape& s, std::int64_t element_bytes, int threads,
                       bool with_statistics) {
        taps_per_thread = round_up((s.kernel_width + kBandRows * s.kernel_height) * kTapBytes, 64);
        statistics = threads * taps_per_thread;
        statistics_per_thread = with_statistics ? round_up(2 * s.filters * 8, 64) : 0;
        rows = statistics + threads * statistics_per_thread;
        if (s.group_filters() > 1) {
            rows_per_thread = round_up(s.kernel_height * s.width * s.filters * element_bytes, 64);
        }
        bytes = rows + threads * rows_per_thread;
    }
};

/// conv2d_backward_weights: for each thread its sums for the bias, its own weights and, with
/// several filters a channel, the rows of the source with every number repeated.
struct DepthwiseOuterWorkspace {
    std::int64_t weights = 0, row = 0, bytes_per_thread = 0, bytes = 0;

    __attribute__((always_inline))
    DepthwiseOuterWorkspace(const ConvShape& s, std::int64_t element_bytes, int threads) {
        weights = round_up(s.filters * 8, 64);
        row = weights + round_up(s.weight_elements() * element_bytes, 64);
        bytes_per_thread = row;
        if (s.group_filters() > 1) {
            bytes_per_thread += round_up(s.kernel_height * s.width * s.filters * element_bytes, 64);
        }
        bytes = threads * bytes_per_thread;
    }
};

}  // namespace dtnn::kernels
