#pragma once
/// Gradients of weights as products of matrices. The columns of a convolution are, for every pixel
/// of its result, the elements of the source under the window, tap after tap: the gradient of its
/// weights is their product with diff_dst. They are made where cuDNN has no engine that is both
/// exact and fast: for floats with few channels, whose sums its fast engines make in no order, or
/// in TF32, and for 16 bits with channels that tensor cores do not take as they are.

#include <algorithm>
#include <cstdint>

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cuda/conv_scratch.hpp"

namespace dtnn::kernels::cuda {

/// A product of the pixels' channels and the filters.
inline bool is_pointwise(const ConvShape& s) {
    return s.groups == 1 && s.taps() == 1 && s.stride_height == 1 && s.stride_width == 1 &&
           s.pad_top == 0 && s.pad_bottom == 0 && s.pad_left == 0 && s.pad_right == 0;
}

/// What NVIDIA advises for cuBLAS on its newest devices.
inline constexpr std::int64_t kCublasRoom = std::int64_t{32} << 20;
/// More columns than these are made part by part.
inline constexpr std::int64_t kMostColumnBytes = std::int64_t{256} << 20;
/// Of floats, up to so many channels.
inline constexpr std::int64_t kMostColumnChannels = 64;

/// The pixels whose columns there is room for at a time; none: they are not made.
struct ColumnRoom {
    std::int64_t rows = 0, stride = 0;  ///< stride: elements from a pixel's to the next one's
    std::int64_t bytes = 0;
};

/// Of a gradient of weights whose values have so many bytes, in so much room.
inline ColumnRoom column_room(const ConvShape& s, std::size_t value, std::int64_t room) {
    const bool reduced = value == 2;
    const bool wanted =
        reduced ? s.channels % 8 != 0 : value == 4 && s.channels <= kMostColumnChannels;
    if (!wanted || s.groups != 1 || s.dilation_width != 1 || is_pointwise(s) || s.out_pixels() == 0)
        return {};
    const std::int64_t stride = (s.taps() * s.channels + 7) / 8 * 8;
    const std::int64_t row_bytes = stride * std::int64_t(value);
    const std::int64_t most = std::min(room - kCublasRoom, kMostColumnBytes) / row_bytes;
    if (most <= 0) return {};
    const std::int64_t parts = (s.out_pixels() + most - 1) / most;
    const std::int64_t rows = (s.out_pixels() + parts - 1) / parts;
    return {rows, stride, whole_steps(rows * row_bytes)};
}

}  // namespace dtnn::kernels::cuda
