/// Refusals and needs of the Winograd kernels, and where they are expected to pay.

#include "kernels/workspace/winograd.hpp"

#include <algorithm>

#include "kernels/catalogue/piece_cut.hpp"
#include "kernels/catalogue/predicates.hpp"

namespace dtnn::kernels {

namespace {

// The cost of a transformed number, in multiply-adds; and the share of a step that is lost to
// interruptions where a thread has one piece.
constexpr double kTransformed = 16, kLost = 0.04;

/// How the work of WinogradWorkspace is cut where filters are not kept, with the least work beside
/// the multiply-adds, of which the shares are compared: every part transforms the source, every
/// block of at most `most` tiles the filters.
void cut_winograd(const WinogradShape& shape, std::int64_t most, std::int64_t panel, int threads,
                  std::int64_t& slices, std::int64_t& parts) {
    if (threads <= 1) return;
    const std::int64_t tiles = shape.tiles();
    slices = std::min<std::int64_t>(threads, tiles);
    choose_cut(
        threads,
        [&](std::int64_t s, std::int64_t p, std::int64_t each) -> double {
            if (s > tiles || p * panel > shape.width) return -1;
            const std::int64_t blocks = s * ((tiles + s * most - 1) / (s * most));
            return double(p) * kTransformed / double(shape.width) +
                   double(blocks) * kTransformed / double(tiles) + kLost / double(each);
        },
        slices, parts);
}

}  // namespace

WinogradWorkspace::WinogradWorkspace(const WinogradShape& shape, std::int64_t element_bytes,
                                     int thread_count, bool with_statistics) {
    const std::int64_t wide = round_up(shape.width, kWidestTile / element_bytes);
    const std::int64_t points = shape.points(), tiles = shape.tiles();
    const std::int64_t filter_bytes = points * shape.depth * wide * element_bytes;
    const std::int64_t panel = std::min(wide, kWidestPanel);
    shared = filter_bytes <= kSharedBytes;
    // With shared filters a block is small beside them; else it must be worth the transformation of
    // the filters, which every block repeats.
    constexpr std::int64_t kUnit = 24, kMostTiles = 144;
    const std::int64_t wanted =
        (shared ? 256 * 1024 : 8 << 20) / (points * shape.depth * element_bytes);
    const std::int64_t most = std::clamp(wanted / kUnit * kUnit, kUnit, kMostTiles);
    if (shared)
        slices = std::min(ThreadTeam::most_pieces(thread_count), round_up(tiles, most) / most);
    else
        cut_winograd(shape, most, panel, thread_count, slices, parts);
    const std::int64_t own = (tiles + slices - 1) / slices, blocks = (own + most - 1) / most;
    block = shared ? most : round_up((own + blocks - 1) / blocks, kUnit);
    block = std::min(block, round_up(tiles, kUnit));
    source_plane = block * shape.depth + kGap;
    product_plane = block * panel + kGap;
    zeros = shared ? round_up(filter_bytes, 64) : 0;
    threads = zeros + round_up(shape.depth * element_bytes, 64);
    products = round_up(points * source_plane * element_bytes, 64);
    taps = products + round_up(points * product_plane * element_bytes, 64);
    filters = taps + round_up(9 * shape.depth * panel * element_bytes, 64);
    bytes_per_thread = filters;
    if (!shared)
        bytes_per_thread += round_up((shape.tile + 2) * shape.depth * panel * element_bytes, 64);
    statistics = threads + thread_count * bytes_per_thread;
    statistics_per_slice = with_statistics ? round_up(2 * shape.width * 8, 64) : 0;
    bytes = statistics + slices * statistics_per_slice;
}

WinogradOuterWorkspace::WinogradOuterWorkspace(const WinogradShape& shape,
                                               std::int64_t element_bytes, int threads) {
    // Room for panels of any width: 48 columns divide the filters, else they are 32 or less.
    const std::int64_t wide = round_up(shape.width, 2 * kRows), deep = round_up(shape.depth, kRows);
    const std::int64_t points = shape.points();
    const std::int64_t tile_bytes = points * (deep + wide) * element_bytes;
    const std::int64_t all_sums = points * deep * wide * element_bytes;
    // Threads that sum the same tiles read from each other what the others have transformed;
    // threads that sum their own add their sums in the end.
    if (all_sums * threads * 4 <= shape.tiles() * tile_bytes) members = threads;
    const std::int64_t tiles = (shape.tiles() + members - 1) / members;
    // Sums that do not stay in the second cache are to be read and written seldom.
    const std::int64_t wanted =
        all_sums <= 1 << 20 ? 1 << 20 : std::clamp<std::int64_t>(2 * all_sums, 4 << 20, 20 << 20);
    const std::int64_t most = std::clamp<std::int64_t>(wanted / tile_bytes, 32, 512);
    const std::int64_t blocks = (tiles + most - 1) / most;
    block = (tiles + blocks - 1) / blocks;
    keeps_sums = block < tiles || members > 1;
    source_plane = block * deep + kGap;
    gradient_plane = block * wide + kGap;
    gradient = round_up(points * source_plane * element_bytes, 64);
    sums = gradient + round_up(points * gradient_plane * element_bytes, 64);
    const std::int64_t item = points * kRows * std::min(wide, WinogradWorkspace::kWidestPanel);
    bytes_per_member = sums + round_up(keeps_sums ? all_sums : threads * item * element_bytes, 64);
    zeros = members * bytes_per_member;
    bias = zeros + round_up(std::max(shape.depth, shape.width) * element_bytes, 64);
    bias_per_thread = round_up(shape.width * 8, 64);
    bytes = bias + threads * bias_per_thread;
}

namespace predicates {
namespace {

WinogradShape forward(const ConvShape& s) {
    return {s.batch, s.channels, s.filters, s.out_height, s.out_width};
}

WinogradShape backward(const ConvShape& s) {
    return {s.batch, s.filters, s.channels, s.height, s.width};
}

/// Taps that lie inside the source, summed over the results along an axis: result r meets source
/// cells r - padding .. r - padding + 2.
std::int64_t taps_inside(std::int64_t source, std::int64_t results, std::int64_t padding) {
    std::int64_t count = 0;
    for (std::int64_t tap = 0; tap < 3; ++tap) {
        const std::int64_t first = std::max(padding - tap, std::int64_t{0});
        const std::int64_t end = std::min(results, source + padding - tap);
        count += std::max(end - first, std::int64_t{0});
    }
    return count;
}

/// In products, as measured (conv_bench): `direct`'s, and what the transforms are worth.
Refused slower(const WinogradShape& w, std::int64_t inside, std::int64_t depth) {
    const double weights = double(depth) * double(round_up(w.width, w.width > 8 ? 16 : 8));
    const double tiles = double(w.tiles()), points = double(w.points());
    const double products = 1.25 * tiles * points * weights;
    const double channels = double(round_up(w.depth, 16) + round_up(w.width, 16));
    const double transforms = 6.7 * tiles * points * channels;
    const double filters = 9 * points * weights * (1 + tiles / 120);
    const double direct = double(w.batch) * double(inside) * double(w.depth) * double(w.width);
    // Up to 16 channels `padded_rows` is at hand, which is faster.
    const double margin = w.depth <= 16 ? 1.5 : 1.1;
    if (margin * (products + transforms + filters) < direct) return std::nullopt;
    return "its transforms would take longer than the products that it saves";
}

}  // namespace

Refused unless_winograd_suits(const Problem& problem) {
    if (auto reason = unless_epilogue_is_shallow(problem)) return reason;
    if (!channels_last(problem))
        return "it needs images stored channels last and weights with the filters last";
    const ConvShape s = conv_shape(problem);
    if (s.kernel_height != 3 || s.kernel_width != 3) return "it has 3x3 filters only";
    if (s.stride_height != 1 || s.stride_width != 1) return "it has only stride 1";
    if (s.dilation_height != 1 || s.dilation_width != 1) return "it has no dilation";
    if (s.groups != 1) return "it has no groups";
    return std::nullopt;
}

Refused winograd_4x4_slower(const Problem& problem) {
    const ConvShape s = conv_shape(problem);
    const ProductSide side = side_of(problem);
    if (side == ProductSide::backward_data) {
        const std::int64_t inside = taps_inside(s.out_height, s.height, 2 - s.pad_top) *
                                    taps_inside(s.out_width, s.width, 2 - s.pad_left);
        return slower(backward(s), inside, s.filters);
    }
    const std::int64_t inside = taps_inside(s.height, s.out_height, s.pad_top) *
                                taps_inside(s.width, s.out_width, s.pad_left);
    const bool weights = side == ProductSide::backward_weights;
    return slower(forward(s), inside,
                  weights ? round_up(s.channels, WinogradOuterWorkspace::kRows) : s.channels);
}

std::int64_t winograd_4x4_workspace(const Problem& problem) {
    const ConvShape s = conv_shape(problem);
    const std::int64_t bytes = element_bytes(problem);
    switch (side_of(problem)) {
        case ProductSide::backward_data:
            return WinogradWorkspace(backward(s), bytes, problem.threads, false).bytes;
        case ProductSide::backward_weights:
            return WinogradOuterWorkspace(forward(s), bytes, problem.threads).bytes;
        case ProductSide::forward:
            break;
    }
    return WinogradWorkspace(forward(s), bytes, problem.threads, problem.flag("statistics")).bytes;
}

}  // namespace predicates
}  // namespace dtnn::kernels
