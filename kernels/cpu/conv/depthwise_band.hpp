#pragma once
/// How many rows of results the depthwise convolutions compute a few channels at a time, and which,
/// and what they ask for ahead.

#include <cstdint>

#include "kernels/cpu/gemm_tile.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// The rows whose results, and the cells that they read, stay in the first cache for two vectors of
/// channels, so that a cell is fetched once for all rows of the kernel; 1 where several filters a
/// channel make rows of their own, or the channels are no more. A row of results reads `new_cells`
/// cells that the row before did not, of rows of `source_width`, and has `result_width`.
template <class T>
std::int64_t depthwise_band_rows(std::int64_t channels, std::int64_t filters_per_channel,
                                 std::int64_t kernel_height, std::int64_t new_cells,
                                 std::int64_t source_width, std::int64_t result_width,
                                 std::int64_t most) {
    constexpr std::int64_t kBandBytes = std::int64_t{24} << 10, kBlock = 2 * kLanes<T>;
    if (filters_per_channel > 1 || channels <= kBlock) return 1;
    const std::int64_t cells = kBandBytes / (kBlock * std::int64_t(sizeof(T)));
    const std::int64_t rows =
        (cells - (kernel_height - 1) * source_width) / (new_cells + result_width);
    return rows < 1 ? 1 : rows < most ? rows : most;
}

/// Source and results (or their gradient), larger than caches, of the next band of rows: they are
/// asked for in the order of memory, whichever channels a tile has, because memory that is read in
/// pieces comes at half of the speed.
struct DepthwiseAhead {
    const char *source = nullptr, *results = nullptr;  ///< the next lines to be asked for
    const char *source_until = nullptr, *results_until = nullptr;  ///< what is due
    std::int64_t step = 0;  ///< bytes of the source for a vector of results
};

/// Asks for a tile's share, R results by V vectors, of what a later band reads and writes.
template <int R, int V>
DTNN_INLINE void ask_ahead(DepthwiseAhead* ahead) {
    if (!ahead) return;
    ahead->source_until += R * V * ahead->step;
    for (; ahead->source < ahead->source_until; ahead->source += 64)
        __builtin_prefetch(ahead->source);
    ahead->results_until += R * V * kVectorBytes;
    for (; ahead->results < ahead->results_until; ahead->results += 64)
        __builtin_prefetch(ahead->results, 1);
}

/// body(lanes, vectors, c) for blocks of channels from c on, the first two as constants: two full
/// vectors, one, and for the channels that do not fill one halves, quarters, ..., one lane.
template <int L, class Body>
DTNN_INLINE void for_last_channels(std::int64_t channels, std::int64_t c, Body&& body) {
    if constexpr (L >= 1) {
        if (c + L <= channels) {
            body(std::integral_constant<int, L>{}, std::integral_constant<int, 1>{}, c);
            c += L;
        }
        for_last_channels<L / 2>(channels, c, body);
    }
}

template <class T, class Body>
DTNN_INLINE void for_channel_blocks(std::int64_t channels, Body&& body) {
    constexpr std::integral_constant<int, kLanes<T>> lanes;
    std::int64_t c = 0;
    for (; c + 2 * lanes <= channels; c += 2 * lanes)
        body(lanes, std::integral_constant<int, 2>{}, c);
    for_last_channels<lanes>(channels, c, body);
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
