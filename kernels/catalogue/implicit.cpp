/// Refusals and needs of the convolutions that pack the image into panels of BLIS's micro-kernels.

#include "kernels/workspace/implicit.hpp"

#include <algorithm>

#include "kernels/catalogue/predicates.hpp"

namespace dtnn::kernels {
namespace {

/// A micro-kernel loads its next operands ahead, behind the last panel, too.
constexpr std::int64_t kReadAhead = 512;

/// The last panel may be wider than what is left.
std::int64_t panel_bytes(std::int64_t width, std::int64_t depth, std::int64_t element_bytes) {
    return round_up((width + kMostBlisSide - 1) * depth * element_bytes, 64);
}

std::int64_t slice_bytes(std::int64_t width, std::int64_t depth, std::int64_t element_bytes) {
    return panel_bytes(width, std::min(depth, kMostBlisDepth), element_bytes);
}

}  // namespace

ImplicitWorkspace::ImplicitWorkspace(std::int64_t pixels, std::int64_t depth, std::int64_t width,
                                     std::int64_t element_bytes, int threads,
                                     bool with_statistics) {
    const std::int64_t block = std::min(pixels, kBlock);
    product = slice_bytes(block, depth, element_bytes);
    edges = product + round_up(block * width * element_bytes, 64);
    statistics =
        edges + round_up(kMostBlisSide * std::min(depth, kMostBlisDepth) * element_bytes, 64);
    bytes_per_thread = statistics + (with_statistics ? round_up(2 * width * 8, 64) : 0);
    threads_at = panel_bytes(width, depth, element_bytes);
    bytes = threads_at + threads * bytes_per_thread + kReadAhead;
}

ImplicitWorkspace ImplicitWorkspace::forward(const ConvShape& shape, std::int64_t element_bytes,
                                             int threads, bool with_statistics) {
    return {
        shape.out_pixels(), shape.taps() * shape.channels, shape.filters, element_bytes, threads,
        with_statistics};
}

ImplicitWorkspace ImplicitWorkspace::backward_data(const ConvShape& shape,
                                                   std::int64_t element_bytes, int threads) {
    return {shape.pixels(), shape.taps() * shape.filters, shape.channels, element_bytes, threads,
            false};
}

ImplicitOuterWorkspace::ImplicitOuterWorkspace(const ConvShape& shape, std::int64_t element_bytes,
                                               int threads) {
    const std::int64_t weights = shape.taps() * shape.channels, pixels = shape.out_pixels();
    const auto divided = [](std::int64_t all, std::int64_t by) { return (all + by - 1) / by; };
    chunks = divided(shape.filters, kChunk);
    chunk = round_up(divided(shape.filters, chunks), kMostBlisSide);
    partial_bytes = round_up(shape.weight_elements() * element_bytes, 64);
    slabs = divided(weights, kSlab);
    // A few pieces for every thread, of at least a block.
    if (threads > 1 && partial_bytes > kFewWeightBytes)
        slabs = std::max(slabs, std::min(divided(4 * threads, chunks), divided(weights, kBlock)));
    slab = round_up(divided(weights, slabs), kBlock / 2);
    slabs = divided(weights, slab);
    parts = std::min(divided(threads, slabs * chunks), divided(pixels, kMostBlisDepth));
    filters = slice_bytes(std::min(weights, kBlock), pixels, element_bytes);
    cells = filters + slice_bytes(std::min(shape.filters, chunk), pixels, element_bytes);
    const std::int64_t deepest = std::min(pixels, kMostBlisDepth);
    edges = cells + round_up(deepest * kCellBytes, 64);
    bytes_per_thread = edges + round_up(kMostBlisSide * element_bytes, 64);
    threads_at = (parts - 1) * partial_bytes;
    bytes = threads_at + threads * bytes_per_thread + kReadAhead;
}

namespace predicates {

Refused unless_rows_suit(const Problem& problem) {
    if (auto reason = unless_convolution_is_channels_last(problem)) return reason;
    return conv_shape(problem).groups == 1 ? std::nullopt : Refused("it has no groups");
}

std::int64_t implicit_blis_workspace(const Problem& problem) {
    const ConvShape s = conv_shape(problem);
    const std::int64_t bytes = element_bytes(problem);
    switch (side_of(problem)) {
        case ProductSide::backward_data:
            return ImplicitWorkspace::backward_data(s, bytes, problem.threads).bytes;
        case ProductSide::backward_weights:
            return ImplicitOuterWorkspace(s, bytes, problem.threads).bytes;
        case ProductSide::forward:
            break;
    }
    return ImplicitWorkspace::forward(s, bytes, problem.threads, problem.flag("statistics")).bytes;
}

}  // namespace predicates
}  // namespace dtnn::kernels
