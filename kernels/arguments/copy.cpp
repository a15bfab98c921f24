#include "kernels/arguments/copy.hpp"

#include <algorithm>

namespace dtnn::kernels {
namespace {

/// Puts an extent or a stride for each axis of `dims` behind those of missing axes.
void set_axes(CopyDims& axes, const Dims& values) {
    std::copy(values.begin(), values.end(), axes.end() - std::ptrdiff_t(values.size()));
}

/// The strides along the axes of an image of `dims`, stored as one row of channels for each pixel;
/// these are along `channels`.
Dims strides_of_rows(const TensorType& rows, const Dims& dims, std::size_t channels) {
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
Dims strides_along(const TensorType& tensor, const Dims& dims) {
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

CopyPlaces::CopyPlaces(const Operands& operands) : FromOperands(operands) {
    const TensorType& src = *o.first_source().type();
    const TensorType& dst = *o.first_result().type();
    const bool to_rows = bool(o.result("rows")), to_pixels = bool(o.source("rows"));
    same_order = !to_rows && !to_pixels && is_row_major(src) && is_row_major(dst);
    if (same_order) return;
    const std::size_t channels = axis_of(o.problem).first;
    // Those of the side that is not flattened.
    const Dims& axes = src.dims.size() >= dst.dims.size() ? src.dims : dst.dims;
    set_axes(dims, axes);
    set_axes(src_strides,
             to_pixels ? strides_of_rows(src, axes, channels) : strides_along(src, axes));
    set_axes(dst_strides,
             to_rows ? strides_of_rows(dst, axes, channels) : strides_along(dst, axes));
    same_order = true;
    for (std::size_t axis = 0; axis < kMostCopyAxes; ++axis)
        if (dims[axis] > 1 && src_strides[axis] != dst_strides[axis]) same_order = false;
}

}  // namespace dtnn::kernels
