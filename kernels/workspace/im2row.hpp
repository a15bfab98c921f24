#pragma once
/// How the "im2row_blis" kernels divide their workspace (see conv.hpp). The rows of a convolution
/// are a matrix with a row for every output pixel and a column for every weight of a filter, [KH,
/// KW, C]; it is made block by block, never as a whole.

#include <cstdint>

#include "kernels/workspace/conv.hpp"

namespace dtnn::kernels {

/// conv2d: for each thread a block of rows, its product with the weights, and its sums for the
/// statistics. Where the image is its own matrix of rows, no rows.
struct Im2RowWorkspace {
    std::int64_t block = 0;  ///< output pixels of a product; of the shape alone
    std::int64_t product = 0, statistics = 0, bytes_per_thread = 0, bytes = 0;

    Im2RowWorkspace(const ConvShape& shape, std::int64_t element_bytes, int threads,
                    bool with_statistics);
};

/// conv2d_backward_data: for each thread the gradient of an image, and of a block of its rows.
struct Row2ImWorkspace {
    std::int64_t block = 0;  ///< output pixels of a product, of one image
    std::int64_t rows = 0, bytes_per_thread = 0, bytes = 0;

    Row2ImWorkspace(const ConvShape& shape, std::int64_t element_bytes, int threads);
};

/// conv2d_backward_weights: for each thread a slab of the columns of a block of rows.
struct Im2RowOuterWorkspace {
    static constexpr std::int64_t kSlab = 256;  ///< columns
    std::int64_t block = 0;                     ///< output pixels of a product
    std::int64_t bytes_per_thread = 0, bytes = 0;

    Im2RowOuterWorkspace(const ConvShape& shape, std::int64_t element_bytes, int threads);
};

/// Columns of the matrix of rows.
__attribute__((always_inline)) inline std::int64_t row_length(const ConvShape& s) {
    return s.taps() * s.channels;
}

/// Whether the image, as it lies, is its matrix of rows.
__attribute__((always_inline)) inline bool is_own_rows(const ConvShape& s) {
    return s.taps() == 1 && s.stride_height == 1 && s.stride_width == 1 && s.pad_top == 0 &&
           s.pad_left == 0 && s.out_height == s.height && s.out_width == s.width;
}

}  // namespace dtnn::kernels
