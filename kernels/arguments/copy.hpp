#pragma once
/// Kernels that move elements and compute nothing.

#include <array>
#include <vector>

#include "kernels/arguments/arguments.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels {

/// reorder, flatten, unflatten, pixels_to_rows, rows_to_pixels: element (i0,i1,...) goes from one
/// place to another. Missing axes come first and have one element; a flattened axis is seen as the
/// axes it was made of, a row of channels as the pixel it belongs to.
inline constexpr std::size_t kMostCopyAxes = 8;
using CopyDims = std::array<std::int64_t, kMostCopyAxes>;

template <class T>
struct CopyArguments {
    CopyDims dims{1, 1, 1, 1, 1, 1, 1, 1}, src_strides{}, dst_strides{};
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

/// concat: the parts one after the other along the axis.
template <class T>
struct ConcatArguments {
    struct Part {
        const T* data = nullptr;
        AxisView view;
    };
    std::vector<Part> parts;
    AxisView whole;
    T* dst = nullptr;

    static ConcatArguments bind(const Problem& problem, Sources sources, Destinations destinations,
                                Workspace workspace);
};

/// slice: dst[e] = src[begin + e] along the axis. slice_backward: diff_src[begin + e] =
/// diff_dst[e], the others are 0.
template <class T>
struct SliceArguments {
    AxisView src_view, dst_view;
    std::int64_t begin = 0;
    const T* src = nullptr;
    T* dst = nullptr;

    static SliceArguments bind(const Problem& problem, Sources sources, Destinations destinations,
                               Workspace workspace);
};

}  // namespace dtnn::kernels
