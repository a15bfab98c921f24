#pragma once
/// How the "bf16" kernels (cpu/conv/bf16_*.hpp), which multiply factors that are rounded to
/// bfloat16, divide their workspace; see workspace/conv.hpp. All offsets are bytes, multiples
/// of 64.

#include <cstdint>

#include "kernels/workspace/conv.hpp"

namespace dtnn::kernels {

/// Rows and depth of the blocks that factors are rounded into: what two tile registers hold.
inline constexpr std::int64_t kRoundedRows = 32, kRoundedDepth = 32;

/// The format that an instruction set's version works in.
struct RoundedFormat {
    std::int64_t columns = 0;  ///< of a panel: two vectors of floats
    std::int64_t bytes = 0;    ///< of a rounded factor: 2, or 4 where floats multiply
};
RoundedFormat rounded_format(Isa isa);

/// conv2d, conv2d_backward_data and the dense operators. The sum over `depth` channels of every
/// tap is cut into chunks of kRoundedDepth: one behind the other, or, where only some taps reach a
/// result (by_taps: a gradient with strides), each tap into chunks of its own. Panels of columns
/// hold all chunks of the weights; rows, those of kRoundedRows results.
struct RoundedWorkspace {
    /// The bytes of the rows that a thread rounds before it multiplies them by one panel after the
    /// other.
    static constexpr std::int64_t kBlockBytes = std::int64_t{1} << 20;

    bool by_taps = false;
    std::int64_t chunks = 0, chunks_per_tap = 0;
    std::int64_t panels = 0, panel_bytes = 0, group_bytes = 0;
    std::int64_t zero_count = 0;
    std::int64_t groups = 0;  ///< of a block of rows; of all rows where panels are divided
    /// The threads divide the panels, which they pack as they come, and share the rows; else they
    /// divide the rows and share the panels.
    bool divides_panels = false;

    std::int64_t rows = 0, zeros = 0, taps = 0, sums = 0, order = 0, statistics = 0, bytes = 0;
    std::int64_t panels_per_thread = 0, rows_per_thread = 0, taps_per_thread = 0,
                 sums_per_thread = 0, order_per_thread = 0;

    /// `results` counts output cells.
    RoundedWorkspace(const ConvShape& shape, std::int64_t depth, std::int64_t width,
                     std::int64_t results, bool by_taps, RoundedFormat format, int threads,
                     bool with_statistics);
};

/// The gradient of the weights: blocks of pixels, both factors rounded, with the pixels as depth.
/// A slice is a share of the pixels with sums of its own: as many as threads where there are too
/// few weights for them to divide, else one.
struct RoundedOuterWorkspace {
    std::int64_t chunks = 0;  ///< of kRoundedRows weights of a filter
    std::int64_t panels = 0;
    std::int64_t pixels = 0;  ///< of a block, a multiple of kRoundedDepth
    std::int64_t slices = 1;

    std::int64_t filters = 0, zeros = 0, taps = 0, gathered = 0, sums = 0, bias = 0, partials = 0,
                 bytes = 0;
    std::int64_t source_per_slice = 0, filters_per_slice = 0, taps_per_thread = 0,
                 gathered_per_thread = 0, sums_per_thread = 0, bias_per_slice = 0,
                 partials_per_slice = 0;

    RoundedOuterWorkspace(const ConvShape& shape, RoundedFormat format, int threads);
};

}  // namespace dtnn::kernels
