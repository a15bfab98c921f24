#pragma once
/// How the "implicit_blis" kernels divide their workspace (see conv.hpp). Panels are what BLIS's
/// micro-kernels read; how wide these are and how deep is known when a kernel runs, so that there
/// is room for all.

#include <cstdint>

#include "kernels/workspace/conv.hpp"

namespace dtnn::kernels {

inline constexpr std::int64_t kMostBlisSide = 32;    ///< rows or columns of a micro-kernel's tile
inline constexpr std::int64_t kMostBlisDepth = 512;  ///< what is summed over at a time

/// conv2d, and conv2d_backward_data by phases (kernels/cpu/conv/gathered_rows.hpp): the weights
/// packed in panels, and for each thread the panels of a block of pixels, their product, runs at
/// the image's edges, and its sums for the statistics.
struct ImplicitWorkspace {
    /// Results of a block, whole tiles of 6, 12 and 14: few enough for the second cache.
    static constexpr std::int64_t kBlock = 168;

    std::int64_t threads_at = 0, bytes_per_thread = 0, bytes = 0;
    std::int64_t product = 0, edges = 0, statistics = 0;  ///< within a thread's

    /// `pixels` results of `width` channels each; `depth` numbers are summed up for one.
    ImplicitWorkspace(std::int64_t pixels, std::int64_t depth, std::int64_t width,
                      std::int64_t element_bytes, int threads, bool with_statistics);

    static ImplicitWorkspace forward(const ConvShape& shape, std::int64_t element_bytes,
                                     int threads, bool with_statistics);
    static ImplicitWorkspace backward_data(const ConvShape& shape, std::int64_t element_bytes,
                                           int threads);
};

/// conv2d_backward_weights: for each thread panels of the source and of diff_dst, where the pixels
/// lie that are summed over, and one run at the image's edge. Threads divide the weights, and, of
/// few, the pixels: then every part of these but the first has weights of its own.
struct ImplicitOuterWorkspace {
    static constexpr std::int64_t kBlock = ImplicitWorkspace::kBlock;  ///< rows of panels
    static constexpr std::int64_t kSlab = 3 * kBlock;  ///< weights of a filter, at most
    static constexpr std::int64_t kChunk = 480;        ///< filters at most: whole tiles of 16, 32
    static constexpr std::int64_t kFewWeightBytes = 256 * 1024;
    static constexpr std::int64_t kCellBytes = 24;

    std::int64_t slab = 0, slabs = 0, chunk = 0, chunks = 0;  ///< pieces of the weights
    std::int64_t parts = 0;                                   ///< of the pixels
    std::int64_t threads_at = 0, bytes_per_thread = 0, partial_bytes = 0, bytes = 0;
    std::int64_t filters = 0, cells = 0, edges = 0;  ///< within a thread's

    ImplicitOuterWorkspace(const ConvShape& shape, std::int64_t element_bytes, int threads);
};

}  // namespace dtnn::kernels
