#pragma once
/// Kernels that move elements and compute nothing.

#include <array>
#include <vector>

#include "kernels/arguments/arguments.hpp"

namespace dtnn::kernels {

/// reorder, flatten, unflatten, pixels_to_rows, rows_to_pixels: element (i0,i1,i2,i3) goes from one
/// place to another. Missing axes come first and have one element; a flattened axis is seen as the
/// axes it was made of, a row of channels as the pixel it belongs to.
template <class T>
struct CopyArguments {
    std::array<std::int64_t, 4> dims{1, 1, 1, 1}, src_strides{}, dst_strides{};
    std::int64_t count = 0;
    bool same_order = false;  ///< the whole is one contiguous copy
    const T* src = nullptr;
    T* dst = nullptr;

    static CopyArguments bind(const Problem& problem, Sources sources, Destinations destinations,
                              Workspace workspace);
};

/// pack_weights: the filters of a convolution, or the units of a dense layer, in blocks that lie
/// one behind the other:
///   dst[b][row][j] = src[row][b*block + j], 0 where there is no such filter
template <class T>
struct PackWeightsArguments {
    std::int64_t rows = 0;  ///< products of a filter
    std::int64_t filters = 0;
    std::int64_t block = 1;
    std::int64_t blocks = 0;
    const T* src = nullptr;
    T* dst = nullptr;

    static PackWeightsArguments bind(const Problem& problem, Sources sources,
                                     Destinations destinations, Workspace workspace);
};

/// A part of the channels of an image (or of [N,C]), with its own layout.
template <class T>
struct ChannelPart {
    const T* data = nullptr;
    std::int64_t channels = 0;
    std::int64_t batch_stride = 0, channel_stride = 0, row_stride = 0, column_stride = 0;
};

/// concat: the parts' channels one after the other.
template <class T>
struct ConcatArguments {
    std::int64_t batch = 0, channels = 0, height = 0, width = 0;
    std::vector<ChannelPart<T>> parts;
    ChannelPart<T> whole;  ///< strides of dst
    T* dst = nullptr;

    static ConcatArguments bind(const Problem& problem, Sources sources, Destinations destinations,
                                Workspace workspace);
};

}  // namespace dtnn::kernels
