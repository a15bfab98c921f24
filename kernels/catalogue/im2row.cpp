/// Refusals and needs of the convolutions that make rows of an image and multiply them by BLIS.

#include "kernels/workspace/im2row.hpp"

#include <algorithm>

#include "kernels/catalogue/predicates.hpp"

namespace dtnn::kernels {
namespace {

/// Rows of a block: few enough to stay in the second cache, enough for BLIS to pack weights for.
std::int64_t block_of(std::int64_t row_bytes, std::int64_t pixels) {
    constexpr std::int64_t kBlockBytes = 768 * 1024, kLeast = 96, kMost = 4096;
    return std::min(std::clamp(kBlockBytes / row_bytes / 24 * 24, kLeast, kMost), pixels);
}

}  // namespace

Im2RowWorkspace::Im2RowWorkspace(const ConvShape& shape, std::int64_t element_bytes, int threads,
                                 bool with_statistics) {
    const std::int64_t row = row_length(shape) * element_bytes;
    block = block_of(row, shape.out_pixels());
    product = is_own_rows(shape) ? 0 : round_up(block * row, 64);
    statistics = product + round_up(block * shape.filters * element_bytes, 64);
    bytes_per_thread = statistics + (with_statistics ? round_up(2 * shape.filters * 8, 64) : 0);
    bytes = threads * bytes_per_thread;
}

Row2ImWorkspace::Row2ImWorkspace(const ConvShape& shape, std::int64_t element_bytes, int threads) {
    const std::int64_t row = row_length(shape) * element_bytes;
    block = block_of(row, shape.out_height * shape.out_width);
    rows = round_up(shape.height * shape.width * shape.channels * element_bytes, 64);
    bytes_per_thread = rows + (is_own_rows(shape) ? 0 : round_up(block * row, 64));
    bytes = threads * bytes_per_thread;
}

Im2RowOuterWorkspace::Im2RowOuterWorkspace(const ConvShape& shape, std::int64_t element_bytes,
                                           int threads) {
    const std::int64_t row = std::min(row_length(shape), kSlab) * element_bytes;
    block = block_of(row, shape.out_pixels());
    bytes_per_thread = is_own_rows(shape) ? 0 : round_up(block * row, 64);
    bytes = threads * bytes_per_thread;
}

namespace predicates {

Refused unless_rows_suit(const Problem& problem) {
    if (auto reason = unless_convolution_is_channels_last(problem)) return reason;
    return conv_shape(problem).groups == 1 ? std::nullopt : Refused("it has no groups");
}

std::int64_t conv2d_im2row_blis_workspace(const Problem& problem) {
    return Im2RowWorkspace(conv_shape(problem), element_bytes(problem), problem.threads,
                           problem.flag("statistics"))
        .bytes;
}

std::int64_t conv2d_backward_data_im2row_blis_workspace(const Problem& problem) {
    return Row2ImWorkspace(conv_shape(problem), element_bytes(problem), problem.threads).bytes;
}

std::int64_t conv2d_backward_weights_im2row_blis_workspace(const Problem& problem) {
    return Im2RowOuterWorkspace(conv_shape(problem), element_bytes(problem), problem.threads).bytes;
}

}  // namespace predicates
}  // namespace dtnn::kernels
