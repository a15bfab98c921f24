#include "kernels/conv_workspace.hpp"

namespace dtnn::kernels {

GatherWorkspace::GatherWorkspace(const ConvShape& shape, std::int64_t depth, std::int64_t width,
                                 std::int64_t bytes_per_element, int threads, bool with_statistics)
    : element_bytes(bytes_per_element) {
    const std::int64_t columns = round_up(width, kWidestTile / element_bytes);
    zeros = round_up(shape.groups * columns * shape.taps() * depth * element_bytes, 64);
    taps = zeros + round_up(depth * element_bytes, 64);
    taps_per_thread = round_up(shape.taps() * (kMostTileRows + 2) * 8, 64);
    statistics = taps + threads * taps_per_thread;
    bytes = statistics;
    if (with_statistics) bytes += threads * round_up(2 * shape.filters * 8, 64);
}

OuterWorkspace::OuterWorkspace(const ConvShape& shape, std::int64_t element_bytes, int threads) {
    const std::int64_t items =
        shape.taps() * shape.groups * round_up(shape.group_channels(), 8) / 8;
    divide_rows = items < 16 * threads;
    pairs_per_thread = round_up(kBlockRows * 2 * 8, 64);
    bias_per_thread = round_up(shape.filters * 8, 64);
    partials_per_thread =
        divide_rows && threads > 1 ? round_up(shape.weight_elements() * element_bytes, 64) : 0;
    bias = threads * pairs_per_thread;
    partials = bias + threads * bias_per_thread;
    bytes = partials + threads * partials_per_thread;
}

}  // namespace dtnn::kernels
