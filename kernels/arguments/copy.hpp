#pragma once
/// Kernels that move elements and compute nothing.

#include <array>
#include <vector>

#include "kernels/arguments/plain.hpp"

namespace dtnn::kernels {

/// reorder, flatten, unflatten, pixels_to_rows, rows_to_pixels: element (i0,i1,...) goes from one
/// place to another. Missing axes come first and have one element; a flattened axis is seen as the
/// axes it was made of, a row of channels as the pixel it belongs to.
inline constexpr std::size_t kMostCopyAxes = 8;
using CopyDims = std::array<std::int64_t, kMostCopyAxes>;

struct CopyPlaces : FromOperands {
    CopyDims dims{1, 1, 1, 1, 1, 1, 1, 1}, src_strides{}, dst_strides{};
    std::int64_t count = o.first_source().elements();
    bool same_order = false;  ///< the whole is one contiguous copy

    explicit CopyPlaces(const Operands& operands);
};

template <class T>
struct CopyArguments : CopyPlaces {
    using CopyPlaces::CopyPlaces;
    const T* src = o.first_source();
    T* dst = o.first_result();
};

/// pack_weights: the filters of a convolution, or the units of a dense layer, in blocks that lie
/// one behind the other:
///   dst[b][row][j] = src[row][b*block + j], 0 where there is no such filter
template <class T>
struct PackWeightsArguments : FromOperands {
    std::int64_t rows = 0;  ///< products of a filter
    std::int64_t filters = 0;
    std::int64_t block = 1;
    std::int64_t blocks = 0;
    const T* src = o.source("weights");
    T* dst = o.result("packed");

    explicit PackWeightsArguments(const Operands& operands) : FromOperands(operands) {
        const TensorType& weights = *o.source("weights").type();
        filters = weights.dims[std::size_t(o.problem.integer("axis"))];
        rows = weights.elements() / filters;
        block = o.problem.integer("block");
        blocks = o.result("packed").type()->dims[0];
    }
};

/// concat: the parts one after the other along the axis.
template <class T>
struct ConcatArguments : FromOperands {
    struct Part {
        const T* data = nullptr;
        AxisView view;
    };
    std::vector<Part> parts;
    AxisView whole;
    T* dst = o.result("dst");

    explicit ConcatArguments(const Operands& operands) : FromOperands(operands) {
        std::vector<const TensorType*> tensors{o.result("dst").type()};
        for (const TensorType& source : o.problem.sources)
            tensors.push_back(&source);
        const std::vector<AxisView> views = axis_views(axis_of(o.problem), tensors).value();
        whole = views[0];
        for (const void* part : o.repeated())
            parts.push_back({static_cast<const T*>(part), views[parts.size() + 1]});
    }
};

/// slice: dst[e] = src[begin + e] along the axis. slice_backward: diff_src[begin + e] =
/// diff_dst[e], the others are 0.
template <class T>
struct SliceArguments : LineArguments<T> {
    using LineArguments<T>::LineArguments;
    std::int64_t begin = this->o.problem.integer("begin");
};

}  // namespace dtnn::kernels
