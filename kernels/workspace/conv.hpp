#pragma once
/// How the convolution and dense kernels divide their workspace. The catalogue books what these
/// structures add up to and the kernels use them for their offsets, so the two cannot disagree. All
/// offsets are bytes, multiples of 64.

#include <cstdint>

#include "kernels/arguments/conv2d.hpp"

namespace dtnn::kernels {

inline constexpr std::int64_t kWidestTile = 128;  ///< bytes of one panel row: two vectors of 64
inline constexpr std::int64_t kMostTileRows = 8;

__attribute__((always_inline)) constexpr std::int64_t round_up(std::int64_t value,
                                                               std::int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/// The columns that a tile of the "direct" kernels computes: `vectors` vectors of `lanes` numbers.
/// Narrow results are computed in narrower vectors.
struct GatherBlock {
    std::int64_t lanes = 0, vectors = 0;
    __attribute__((always_inline)) constexpr std::int64_t columns() const {
        return lanes * vectors;
    }
};
/// `vector_bytes` is what a register of the instruction set holds; sets of 64 have 32 registers.
__attribute__((always_inline)) constexpr GatherBlock gather_block(std::int64_t width,
                                                                  std::int64_t element_bytes,
                                                                  std::int64_t vector_bytes) {
    const std::int64_t lanes = vector_bytes / element_bytes;
    if (width <= lanes / 2 && lanes > 4) return {lanes / 2, 1};
    if (width <= lanes) return {lanes, 1};
    if (vector_bytes == 64 && width % (3 * lanes) == 0) return {lanes, 3};
    return {lanes, 2};
}

/// conv2d "direct" and conv2d_backward_data "direct": the weights packed in panels, a row of zeros
/// for cells outside the image, for each thread a list of taps, and, forward, sums for the
/// statistics for each piece of the cells. Weights that come packed need no panels.
struct GatherWorkspace {
    std::int64_t panels = 0, zeros = 0, taps = 0, statistics = 0, bytes = 0;
    std::int64_t taps_per_thread = 0;  ///< bytes
    std::int64_t element_bytes = 4;

    /// `depth` is what one tap sums over and `width` what it produces, both per group.
    GatherWorkspace(const ConvShape& shape, std::int64_t depth, std::int64_t width,
                    std::int64_t bytes_per_element, int threads, bool with_statistics,
                    bool packed = false);
};

/// conv2d_backward_weights "direct": for each thread a list of cells (a pointer and a place each),
/// rows at the image's edges, a packed panel of the source, and packed panels of diff_dst. The
/// cells are cut into slices, each with weights of its own where there are several, and the weights
/// into parts: the threads divide the pieces, a slice of a part each. Every piece has sums for the
/// bias.
struct OuterWorkspace {
    static constexpr std::int64_t kBlockCells =
        256;                                       ///< output pixels that are worked on at a time
    static constexpr std::int64_t kMostRows = 12;  ///< of a panel of the source
    static constexpr std::int64_t kMostColumns = 512;  ///< filters that are packed at a time

    std::int64_t slices = 1, parts = 1;
    std::int64_t bias = 0, partials = 0, bytes = 0;
    std::int64_t scratch_per_thread = 0, bias_per_piece = 0, partials_per_slice = 0;
    std::int64_t places = 0, edges = 0, panel = 0, filters = 0;  ///< within a thread's scratch

    /// Whether the taps of a kernel row are taken together.
    __attribute__((always_inline)) static bool joins_taps(const ConvShape& s) {
        return s.groups == 1 && s.dilation_width == 1 && s.kernel_width > 1 && s.channels < 16;
    }

    OuterWorkspace(const ConvShape& shape, std::int64_t element_bytes, int threads);
};

/// Why the kernels that copy rows of the image with their padding cannot do a shape, whatever its
/// strides; null: they can.
const char* rows_refusal(const ConvShape& shape);

/// The "padded_rows" kernels, for few channels, forward with strides of 1 and 2, backward of 1: a
/// thread copies a band of image rows into a padded scratch image, where the taps of an output row
/// are one contiguous run. Narrow results of stride 1 are computed `pixels` at a time, as one wider
/// pixel, so that a vector is full: a row of weights then holds `pixels` shifted copies of the
/// kernel.
struct RowsWorkspace {
    static constexpr std::int64_t kBandBytes = 24 * 1024;

    const char* refusal = nullptr;  ///< why the shape does not suit, and then nothing else is set
    std::int64_t pixels = 1;        ///< output pixels in a vector: 1 or 2
    std::int64_t taps = 0;          ///< kernel_width + pixels - 1
    std::int64_t band = 0;          ///< output rows of a band
    std::int64_t row = 0;           ///< elements of a padded row, slack included
    std::int64_t weights = 0, bias = 0, bytes_per_thread = 0;  ///< offsets within a thread's
    std::int64_t statistics = 0, statistics_per_piece = 0, bytes = 0;

    /// As in GatherWorkspace; the image that is gathered from is `source_width` wide, the result
    /// `out_height` by `out_width`.
    RowsWorkspace(const ConvShape& shape, std::int64_t depth, std::int64_t width,
                  std::int64_t out_height, std::int64_t out_width, std::int64_t element_bytes,
                  int threads);
};

/// The same for the gradient of the weights: the padded band and the sums, [KH, taps, channels,
/// pixels*filters].
struct RowsOuterWorkspace {
    const char* refusal = nullptr;
    std::int64_t pixels = 1, taps = 0, band = 0, row = 0;
    std::int64_t sums = 0, bias = 0, bytes_per_thread = 0, bytes = 0;

    RowsOuterWorkspace(const ConvShape& shape, std::int64_t element_bytes, int threads);
};

/// The dense "blis" kernels: the units or inputs of one matrix product, and, for the gradient of
/// the data with a mask, what each thread keeps of one.
inline constexpr std::int64_t kBlisSlab = 512;

__attribute__((always_inline)) inline std::int64_t blis_slab_bytes(const ConvShape& shape,
                                                                   std::int64_t element_bytes) {
    return round_up(shape.batch * kBlisSlab * element_bytes, 64);
}

}  // namespace dtnn::kernels
