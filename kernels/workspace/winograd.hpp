#pragma once
/// How the Winograd kernels divide their workspace (see conv.hpp), and when they pay.

#include <cstdint>

#include "kernels/workspace/conv.hpp"

namespace dtnn::kernels {

/// A convolution as its kernel sees it: forward or backward to the data.
struct WinogradShape {
    std::int64_t batch = 0, depth = 0, width = 0;  ///< summed over; produced
    std::int64_t out_height = 0, out_width = 0;    ///< of what is produced
    static constexpr std::int64_t tile = 4;        ///< results of a tile along an axis

    std::int64_t points() const { return (tile + 2) * (tile + 2); }
    std::int64_t rows() const { return (out_height + tile - 1) / tile; }
    std::int64_t columns() const { return (out_width + tile - 1) / tile; }
    std::int64_t tiles() const { return batch * rows() * columns(); }
};

/// conv2d "winograd_4x4" and conv2d_backward_data "winograd_4x4". The tiles are cut into slices and
/// the columns into parts: the threads divide the pieces, a slice of a part each. Where the
/// transformed filters of all panels are small they are kept, and there is one part; else every
/// piece transforms the filters of its panels for every block of its tiles. Each thread has a block
/// of transformed tiles of the source, its products with a panel, and the taps and the transformed
/// filters of one row of points of a panel; forward, each slice has its sums for the statistics.
struct WinogradWorkspace {
    static constexpr std::int64_t kWidestPanel = 48;       ///< columns
    static constexpr std::int64_t kSharedBytes = 1 << 20;  ///< of filters that are kept transformed
    static constexpr std::int64_t kGap = 16;  ///< elements that part the planes of points, which
                                              ///< would else meet in one place of a cache

    bool shared = false;      ///< all filters are transformed once, for all threads
    std::int64_t block = 24;  ///< tiles that are worked on at a time: a multiple of 24
    std::int64_t source_plane = 0, product_plane = 0;  ///< elements of a point of a block
    std::int64_t slices = 1, parts = 1;
    std::int64_t zeros = 0, threads = 0, bytes = 0;
    std::int64_t source = 0, products = 0, filters = 0, taps = 0;  ///< within a thread's
    std::int64_t bytes_per_thread = 0;
    std::int64_t statistics = 0, statistics_per_slice = 0;

    WinogradWorkspace(const WinogradShape& shape, std::int64_t element_bytes, int threads,
                      bool with_statistics);
};

/// conv2d_backward_weights "winograd_4x4": for each member a block of transformed tiles of the
/// source and of diff_dst, and sums: of all items where they outlive a block, else of one item for
/// each thread; each thread's sums for the bias. Members are the threads where sums are small
/// beside what is transformed, so that each sums tiles of its own; else there is one member, all
/// threads share its block, and divide its items.
struct WinogradOuterWorkspace {
    static constexpr std::int64_t kRows = 16;  ///< channels of an item
    static constexpr std::int64_t kGap = WinogradWorkspace::kGap;

    std::int64_t members = 1;
    std::int64_t block = 0;                             ///< tiles that a member works on at a time
    bool keeps_sums = false;                            ///< of all items
    std::int64_t source_plane = 0, gradient_plane = 0;  ///< elements of a point of a block
    std::int64_t source = 0, gradient = 0, sums = 0;    ///< within a member's
    std::int64_t bytes_per_member = 0;
    std::int64_t zeros = 0, bias = 0, bias_per_thread = 0;
    std::int64_t bytes = 0;

    WinogradOuterWorkspace(const WinogradShape& shape, std::int64_t element_bytes, int threads);
};

}  // namespace dtnn::kernels
