#include "kernels/arguments/copy.hpp"

#include <algorithm>

#include "kernels/layout.hpp"

namespace dtnn::kernels {
namespace {

/// Puts an extent or a stride for each axis of `dims` behind those of missing axes.
void set_axes(CopyDims& axes, const Dims& values) {
    std::copy(values.begin(), values.end(), axes.end() - std::ptrdiff_t(values.size()));
}

/// The strides along the axes of an image of `dims`, stored as one row of channels for each pixel;
/// these are along `channels`.
Dims strides_of_rows(const TensorDesc& rows, const Dims& dims, std::size_t channels) {
    const Dims own = strides_of(rows);
    Dims strides(dims.size());
    std::int64_t stride = own[0];
    for (std::size_t axis = dims.size(); axis-- > 0;) {
        if (axis == channels) continue;
        strides[axis] = stride;
        stride *= dims[axis];
    }
    strides[channels] = own[1];
    return strides;
}

/// The strides of `tensor` along the axes of `dims`, which splits or equals its axes (the last axes
/// of `dims` make up the last axis of `tensor` in row-major order).
Dims strides_along(const TensorDesc& tensor, const Dims& dims) {
    Dims own = strides_of(tensor);
    if (own.size() == dims.size()) return own;  // none of its axes is split
    // Flattened: batch, then everything else in one axis.
    Dims strides(dims.size());
    std::int64_t stride = own.back();
    for (std::size_t axis = dims.size(); axis-- > 1;) {
        strides[axis] = stride;
        stride *= dims[axis];
    }
    strides[0] = own.front();
    return strides;
}

}  // namespace

template <class T>
CopyArguments<T> CopyArguments<T>::bind(const Problem& problem, Sources sources,
                                        Destinations destinations, Workspace) {
    const TensorDesc& src = problem.sources[0];
    const TensorDesc& dst = problem.destinations[0];
    // Those of the side that is not flattened.
    const Dims& dims = src.dims.size() >= dst.dims.size() ? src.dims : dst.dims;
    CopyArguments arguments;
    arguments.src = static_cast<const T*>(sources[0]);
    arguments.dst = static_cast<T*>(destinations[0]);
    arguments.count = src.elements();
    const bool to_rows = problem.op == "pixels_to_rows", to_pixels = problem.op == "rows_to_pixels";
    arguments.same_order = !to_rows && !to_pixels && is_row_major(src) && is_row_major(dst);
    if (arguments.same_order) return arguments;
    const std::size_t channels = axis_of(problem).first;
    set_axes(arguments.dims, dims);
    set_axes(arguments.src_strides,
             to_pixels ? strides_of_rows(src, dims, channels) : strides_along(src, dims));
    set_axes(arguments.dst_strides,
             to_rows ? strides_of_rows(dst, dims, channels) : strides_along(dst, dims));
    arguments.same_order = true;
    for (std::size_t axis = 0; axis < kMostCopyAxes; ++axis) {
        if (arguments.dims[axis] > 1 &&
            arguments.src_strides[axis] != arguments.dst_strides[axis]) {
            arguments.same_order = false;
        }
    }
    return arguments;
}

template <class T>
PackWeightsArguments<T> PackWeightsArguments<T>::bind(const Problem& problem, Sources sources,
                                                      Destinations destinations, Workspace) {
    PackWeightsArguments arguments;
    const TensorDesc& weights = problem.sources[0];
    arguments.filters = weights.dims[std::size_t(problem.integer("axis"))];
    arguments.rows = weights.elements() / arguments.filters;
    arguments.block = problem.integer("block");
    arguments.blocks = problem.destinations[0].dims[0];
    arguments.src = static_cast<const T*>(sources[0]);
    arguments.dst = static_cast<T*>(destinations[0]);
    return arguments;
}

template <class T>
ConcatArguments<T> ConcatArguments<T>::bind(const Problem& problem, Sources sources,
                                            Destinations destinations, Workspace) {
    std::vector<const TensorDesc*> tensors{&problem.destinations[0]};
    for (const TensorDesc& source : problem.sources)
        tensors.push_back(&source);
    const std::vector<AxisView> views = axis_views(axis_of(problem), tensors).value();
    ConcatArguments arguments;
    arguments.whole = views[0];
    arguments.dst = static_cast<T*>(destinations[0]);
    for (std::size_t i = 0; i < sources.size(); ++i)
        arguments.parts.push_back({static_cast<const T*>(sources[i]), views[i + 1]});
    return arguments;
}

template <class T>
SliceArguments<T> SliceArguments<T>::bind(const Problem& problem, Sources sources,
                                          Destinations destinations, Workspace) {
    const auto [from, to] = views_of(axis_of(problem), problem.sources[0], problem.destinations[0]);
    return {from, to, problem.integer("begin"), static_cast<const T*>(sources[0]),
            static_cast<T*>(destinations[0])};
}

DTNN_ARGUMENTS_OF_VALUES(CopyArguments)
DTNN_ARGUMENTS_OF_VALUES(PackWeightsArguments)
DTNN_ARGUMENTS_OF_VALUES(ConcatArguments)
DTNN_ARGUMENTS_OF_VALUES(SliceArguments)

}  // namespace dtnn::kernels
