/// Refusals and needs of the "bf16" kernels.

#include "kernels/workspace/bf16.hpp"

#include <algorithm>

#include "kernels/arguments/conv2d.hpp"
#include "kernels/catalogue/predicates.hpp"
#include "kernels/packed_weights.hpp"

namespace dtnn::kernels {
namespace {

constexpr std::int64_t kLine = 64;

std::int64_t chunks_of(std::int64_t length) {
    return (length + kRoundedDepth - 1) / kRoundedDepth;
}

std::int64_t taps_bytes(const ConvShape& shape) {
    return round_up(shape.taps() * (kMostTileRows + 2) * 8, kLine);
}

}  // namespace

RoundedFormat rounded_format(Isa isa) {
    const std::int64_t vector = isa >= Isa::avx512 ? 64 : isa == Isa::avx2 ? 32 : 16;
    return {vector / 2, isa >= Isa::avx512_bf16 ? 2 : 4};
}

RoundedWorkspace::RoundedWorkspace(const ConvShape& shape, std::int64_t depth, std::int64_t width,
                                   std::int64_t results, bool apart, RoundedFormat format,
                                   int threads, bool with_statistics)
    : by_taps(apart) {
    chunks_per_tap = chunks_of(depth);
    chunks = by_taps ? shape.taps() * chunks_per_tap : chunks_of(shape.taps() * depth);
    panels = (width + format.columns - 1) / format.columns;
    panel_bytes = chunks * kRoundedDepth * format.columns * format.bytes;
    group_bytes = chunks * kRoundedDepth * kRoundedRows * format.bytes;
    const std::int64_t all_groups = (results + kRoundedRows - 1) / kRoundedRows;
    // Fewer results than weights of one: these are packed where they are used.
    divides_panels = !by_taps && results <= width;
    groups = divides_panels ? all_groups
                            : std::clamp(kBlockBytes / group_bytes, std::int64_t{1},
                                         std::min(all_groups, std::int64_t{8}));
    const std::int64_t share = divides_panels ? threads : 1;
    panels_per_thread = divides_panels ? panel_bytes : 0;
    rows_per_thread = divides_panels ? 0 : groups * group_bytes;
    rows = divides_panels ? share * panel_bytes : panels * panel_bytes;
    zeros = rows + (divides_panels ? groups * group_bytes : threads * rows_per_thread);
    // A row of the source, or of a panel.
    zero_count = std::max(depth, format.columns);
    taps = zeros + round_up(zero_count * 4, kLine);
    taps_per_thread = taps_bytes(shape);
    sums = taps + threads * taps_per_thread;
    sums_per_thread = kRoundedRows * format.columns * 4;
    order = sums + threads * sums_per_thread;
    order_per_thread = by_taps ? round_up((chunks + shape.taps()) * 4, kLine) : 0;
    statistics = order + threads * order_per_thread;
    bytes = statistics;
    if (with_statistics) bytes += threads * round_up(2 * shape.filters * 8, kLine);
}

RoundedOuterWorkspace::RoundedOuterWorkspace(const ConvShape& shape, RoundedFormat format,
                                             int threads) {
    constexpr std::int64_t kBlockBytes = std::int64_t{2} << 20, kPixelsToSlice = 1024;
    const std::int64_t rows = shape.taps() * shape.channels;
    chunks = chunks_of(rows);
    panels = (shape.filters + format.columns - 1) / format.columns;
    const std::int64_t all = round_up(shape.out_pixels(), kRoundedDepth);
    if (threads > 1 && chunks * panels < std::int64_t{4} * threads && all >= kPixelsToSlice)
        slices = threads;
    const std::int64_t per_pixel = (chunks * kRoundedRows + panels * format.columns) * format.bytes;
    pixels =
        std::clamp(kBlockBytes / per_pixel / kRoundedDepth, std::int64_t{4}, std::int64_t{32}) *
        kRoundedDepth;
    pixels = std::min(pixels, round_up((all + slices - 1) / slices, kRoundedDepth));
    source_per_slice = chunks * kRoundedRows * pixels * format.bytes;
    filters_per_slice = panels * format.columns * pixels * format.bytes;
    filters = slices * source_per_slice;
    zeros = filters + slices * filters_per_slice;
    taps = zeros + round_up(std::max(shape.channels, shape.filters) * 4, kLine);
    taps_per_thread = taps_bytes(shape);
    gathered = taps + threads * taps_per_thread;
    gathered_per_thread = chunks * kRoundedDepth * kRoundedRows * format.bytes;
    sums = gathered + threads * gathered_per_thread;
    sums_per_thread = kRoundedRows * format.columns * 4;
    bias = sums + threads * sums_per_thread;
    bias_per_slice = round_up(shape.filters * 8, kLine);
    partials = bias + slices * bias_per_slice;
    partials_per_slice = slices > 1 ? round_up(shape.weight_elements() * 4, kLine) : 0;
    bytes = partials + slices * partials_per_slice;
}

namespace predicates {

Refused unless_rounded_convolution(const Problem& problem) {
    if (packed_block(problem) > 0) return "its weights are packed";
    if (auto reason = unless_epilogue_is_shallow(problem)) return reason;
    if (problem.integer("groups") != 1) return "it does one group";
    if (channels_last(problem)) return std::nullopt;
    return "it needs images stored channels last and weights with the filters last";
}

std::int64_t bf16_workspace(const Problem& problem) {
    const ConvShape s = product_shape(problem);
    const RoundedFormat format = rounded_format(problem.isa);
    switch (side_of(problem)) {
        case ProductSide::backward_data:
            return RoundedWorkspace(s, s.filters, s.channels, s.pixels(),
                                    s.stride_height > 1 || s.stride_width > 1, format,
                                    problem.threads, false)
                .bytes;
        case ProductSide::backward_weights:
            return RoundedOuterWorkspace(s, format, problem.threads).bytes;
        case ProductSide::forward:
            break;
    }
    return RoundedWorkspace(s, s.channels, s.filters, s.out_pixels(), false, format,
                            problem.threads, problem.flag("statistics"))
        .bytes;
}

}  // namespace predicates
}  // namespace dtnn::kernels
