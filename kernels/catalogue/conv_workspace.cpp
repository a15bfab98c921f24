#include <algorithm>

#include "kernels/catalogue/piece_cut.hpp"
#include "kernels/workspace/conv.hpp"

namespace dtnn::kernels {
namespace {

constexpr std::int64_t kTileSlack = 16;  ///< pixels that the last tile of a row may read past it

/// Output rows that fit a band, at least four.
std::int64_t band_rows(std::int64_t row_bytes, const ConvShape& s, std::int64_t rows) {
    const std::int64_t more = RowsWorkspace::kBandBytes / row_bytes - s.kernel_height;
    const std::int64_t fitting = more < 0 ? 0 : more / s.stride_height + 1;
    const std::int64_t band = fitting < 4 ? 4 : fitting;
    return band < rows ? band : rows;
}

/// How the sums of OuterWorkspace are cut, with the least work beside the multiply-adds, of which
/// the shares are compared. A part packs all of diff_dst; a slice writes weights that are read and
/// added up in the end; and the fewer pieces a thread has, the longer it waits for another that was
/// interrupted. One thread has one piece.
void cut_outer(const ConvShape& shape, int threads, std::int64_t& slices, std::int64_t& parts) {
    if (threads <= 1) return;
    // The cost of a packed or added number, in multiply-adds; and the share of a step that is lost
    // to interruptions where a thread has one piece (3 % on virtual processors).
    constexpr double kPacked = 8, kAdded = 24, kLost = 0.04;
    const std::int64_t rows = shape.taps() * shape.channels, cells = shape.out_pixels();
    slices = std::min<std::int64_t>(threads, cells);
    choose_cut(
        threads,
        [&](std::int64_t s, std::int64_t p, std::int64_t each) -> double {
            if (s > cells || p * 8 > rows) return -1;
            return double(std::max(p, shape.groups)) * kPacked / double(rows) +
                   (s > 1 ? double(s) * kAdded / double(cells) : 0) + kLost / double(each);
        },
        slices, parts);
}

/// The source rows that a band of output rows reads.
std::int64_t rows_of(std::int64_t band, const ConvShape& s) {
    return (band - 1) * s.stride_height + s.kernel_height;
}

}  // namespace

const char* rows_refusal(const ConvShape& s) {
    if (s.groups != 1) return "it has no groups";
    if (s.taps() == 1) return "one tap needs no padded rows";
    if (s.dilation_height != 1 || s.dilation_width != 1) return "it has no dilation";
    return nullptr;
}

GatherWorkspace::GatherWorkspace(const ConvShape& shape, std::int64_t depth, std::int64_t width,
                                 std::int64_t bytes_per_element, int threads, bool with_statistics,
                                 bool packed)
    : element_bytes(bytes_per_element) {
    const std::int64_t columns = round_up(width, kWidestTile / element_bytes);
    if (!packed)
        zeros = round_up(shape.groups * columns * shape.taps() * depth * element_bytes, 64);
    taps = zeros + round_up(depth * element_bytes, 64);
    taps_per_thread = round_up(shape.taps() * (kMostTileRows + 2) * 8, 64);
    statistics = taps + threads * taps_per_thread;
    bytes = statistics;
    if (with_statistics)
        bytes += ThreadTeam::most_pieces(threads) * round_up(2 * shape.filters * 8, 64);
}

OuterWorkspace::OuterWorkspace(const ConvShape& shape, std::int64_t element_bytes, int threads) {
    cut_outer(shape, threads, slices, parts);
    const std::int64_t block = std::min(kBlockCells, shape.out_pixels());
    const std::int64_t columns =
        round_up(std::min(shape.group_filters(), kMostColumns), kWidestTile / element_bytes);
    const bool joins = joins_taps(shape);
    places = round_up(block * 8, 64);
    edges = places + round_up(block * 4, 64);
    panel =
        edges +
        (joins ? round_up(block * (shape.kernel_width * shape.channels + kMostRows) * element_bytes,
                          64)
               : 0);
    filters = panel + block * kWidestTile;
    scratch_per_thread = filters + round_up(block * columns * element_bytes, 64);
    bias_per_piece = round_up(shape.filters * 8, 64);
    partials_per_slice = slices > 1 ? round_up(shape.weight_elements() * element_bytes, 64) : 0;
    bias = threads * scratch_per_thread;
    partials = bias + slices * parts * bias_per_piece;
    bytes = partials + slices * partials_per_slice;
}

RowsWorkspace::RowsWorkspace(const ConvShape& shape, std::int64_t depth, std::int64_t width,
                             std::int64_t out_height, std::int64_t out_width,
                             std::int64_t element_bytes, int threads) {
    refusal = rows_refusal(shape);
    if (refusal) return;
    if (shape.stride_height > 2 || shape.stride_width > 2) {
        refusal = "it has only strides of 1 and 2";
        return;
    }
    if (shape.pad_top >= shape.kernel_height || shape.pad_left >= shape.kernel_width) {
        refusal = "the padding is as wide as the kernel";
        return;
    }
    if (depth != 1 && depth != 2 && depth != 3 && depth != 4 && depth != 8 && depth != 16) {
        refusal = "it sums over 1, 2, 3, 4, 8 or 16 channels only";
        return;
    }
    if (width * element_bytes == 16 && out_width % 2 == 0 && shape.stride_width == 1) pixels = 2;
    if (width * pixels * element_bytes % 32 != 0) {
        refusal = "its results do not fill vectors";
        return;
    }
    taps = shape.kernel_width + pixels - 1;
    row = ((out_width + kTileSlack * pixels) * shape.stride_width + taps) * depth;
    band = band_rows(row * element_bytes, shape, out_height);
    weights = round_up(rows_of(band, shape) * row * element_bytes, 64);
    bias =
        weights + round_up(shape.kernel_height * taps * depth * pixels * width * element_bytes, 64);
    bytes_per_thread = bias + round_up(pixels * width * element_bytes, 64);
    statistics = threads * bytes_per_thread;
    statistics_per_piece = round_up(2 * width * 8, 64);
    bytes = statistics + ThreadTeam::most_pieces(threads) * statistics_per_piece;
}

RowsOuterWorkspace::RowsOuterWorkspace(const ConvShape& shape, std::int64_t element_bytes,
                                       int threads) {
    refusal = rows_refusal(shape);
    if (refusal) return;
    if (shape.stride_height != 1 || shape.stride_width != 1) {
        refusal = "it has only stride 1";
        return;
    }
    if (shape.channels > 16) {
        refusal = "it has at most 16 channels";
        return;
    }
    const std::int64_t width = shape.filters * element_bytes;
    if (width == 16 && shape.out_width % 2 == 0) pixels = 2;
    if (width * pixels % 32 != 0) {
        refusal = "its results do not fill vectors";
        return;
    }
    taps = shape.kernel_width + pixels - 1;
    row = (shape.out_width + taps) * shape.channels;
    band = band_rows(row * element_bytes, shape, shape.out_height);
    sums = round_up(rows_of(band, shape) * row * element_bytes, 64);
    bias = sums + round_up(shape.kernel_height * taps * shape.channels * pixels * width, 64);
    bytes_per_thread = bias + round_up(shape.filters * 8, 64);
    bytes = threads * bytes_per_thread;
}

}  // namespace dtnn::kernels
