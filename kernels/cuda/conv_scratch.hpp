#pragma once
/// How convolutions and dense products for devices divide their workspace: for those who book it,
/// and for the kernels. What a library may use comes first, then, where one is needed, a copy of
/// the image with its padding, then the sums of chunks (chunks.hpp).

#include <cstddef>
#include <cstdint>

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cuda/chunks.hpp"

namespace dtnn::kernels::cuda {

inline constexpr std::int64_t kScratchStep = 256;  ///< every part begins at a multiple of it

constexpr std::int64_t whole_steps(std::int64_t bytes) {
    return (bytes + kScratchStep - 1) / kScratchStep * kScratchStep;
}

/// Bytes of the sums of chunks: `sums` of every filter over the pixels of the result.
constexpr std::int64_t conv_sums_bytes(std::int64_t sums, std::int64_t pixels,
                                       std::int64_t filters) {
    return sums > 0 ? whole_steps(column_sums_of(sums, 1, pixels, filters) * 8) : 0;
}

constexpr bool is_padded_unevenly(const ConvShape& s) {
    return s.pad_top != s.pad_bottom || s.pad_left != s.pad_right;
}

/// The same convolution of an image that has its padding in it.
constexpr ConvShape padded_shape(ConvShape s) {
    s.height += s.pad_top + s.pad_bottom;
    s.width += s.pad_left + s.pad_right;
    s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = 0;
    return s;
}

/// Bytes of the image with its padding. Only padding that differs from side to side needs one:
/// most engines of cuDNN know one number for both sides.
constexpr std::int64_t padded_image_bytes(const ConvShape& s, std::int64_t element_bytes) {
    if (!is_padded_unevenly(s)) return 0;
    return whole_steps(padded_shape(s).pixels() * s.channels * element_bytes);
}

struct ConvScratch {
    Workspace library, padded, sums;
};

/// `all` has at least what the two numbers add up to, which are multiples of kScratchStep.
inline ConvScratch divide(Workspace all, std::int64_t padded_bytes, std::int64_t sums_bytes) {
    const auto padded = std::size_t(padded_bytes), sums = std::size_t(sums_bytes);
    const std::size_t left = all.size() - padded - sums;
    const std::size_t library = left / kScratchStep * kScratchStep;
    return {all.first(library), all.subspan(library, padded), all.subspan(library + padded, sums)};
}

}  // namespace dtnn::kernels::cuda
