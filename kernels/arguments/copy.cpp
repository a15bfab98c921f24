#include "kernels/arguments/copy.hpp"

#include "kernels/layout.hpp"

namespace dtnn::kernels {
namespace {

/// The strides along batch, channels, rows and columns of an image of `dims`, stored as one row of
/// channels for each pixel.
std::array<std::int64_t, 4> strides_of_rows(const TensorDesc& rows, const Dims& dims) {
    const Dims own = strides_of(rows);
    return {own[0] * dims[2] * dims[3], own[1], own[0] * dims[3], own[0]};
}

/// The strides of `tensor` along the axes of `dims`, which splits or equals its axes (the last axes
/// of `dims` make up the last axis of `tensor` in row-major order).
std::array<std::int64_t, 4> strides_along(const TensorDesc& tensor, const Dims& dims) {
    const Dims own = strides_of(tensor);
    std::array<std::int64_t, 4> strides{};
    const std::size_t skip = 4 - dims.size();
    if (own.size() == dims.size()) {
        for (std::size_t axis = 0; axis < dims.size(); ++axis)
            strides[skip + axis] = own[axis];
        return strides;
    }
    // Flattened: batch, then everything else in one axis.
    std::int64_t stride = own.back();
    for (std::size_t axis = dims.size(); axis-- > 1;) {
        strides[skip + axis] = stride;
        stride *= dims[axis];
    }
    strides[skip] = own.front();
    return strides;
}

template <class T>
ChannelPart<T> part_of(const TensorDesc& tensor) {
    const ImageLayout image = image_layout(tensor);
    return {nullptr,          image.channels,     image.batch_stride, image.channel_stride,
            image.row_stride, image.column_stride};
}

}  // namespace

template <class T>
CopyArguments<T> CopyArguments<T>::bind(const Problem& problem, Sources sources,
                                        Destinations destinations, Workspace) {
    const TensorDesc& src = problem.sources[0];
    const TensorDesc& dst = problem.destinations[0];
    const Dims& dims = src.dims.size() >= dst.dims.size() ? src.dims : dst.dims;
    CopyArguments arguments;
    arguments.src = static_cast<const T*>(sources[0]);
    arguments.dst = static_cast<T*>(destinations[0]);
    arguments.count = src.elements();
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        arguments.dims[4 - dims.size() + axis] = dims[axis];
    }
    const bool to_rows = problem.op == "pixels_to_rows", to_pixels = problem.op == "rows_to_pixels";
    arguments.src_strides = to_pixels ? strides_of_rows(src, dims) : strides_along(src, dims);
    arguments.dst_strides = to_rows ? strides_of_rows(dst, dims) : strides_along(dst, dims);
    arguments.same_order = true;
    for (std::size_t axis = 0; axis < 4; ++axis) {
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
    const ImageLayout image = image_layout(problem.destinations[0]);
    ConcatArguments arguments;
    arguments.batch = image.batch, arguments.channels = image.channels;
    arguments.height = image.height, arguments.width = image.width;
    arguments.whole = part_of<T>(problem.destinations[0]);
    arguments.dst = static_cast<T*>(destinations[0]);
    for (std::size_t i = 0; i < sources.size(); ++i) {
        arguments.parts.push_back(part_of<T>(problem.sources[i]));
        arguments.parts.back().data = static_cast<const T*>(sources[i]);
    }
    return arguments;
}

DTNN_ARGUMENTS_OF_VALUES(CopyArguments)
DTNN_ARGUMENTS_OF_VALUES(PackWeightsArguments)
DTNN_ARGUMENTS_OF_VALUES(ConcatArguments)

}  // namespace dtnn::kernels
