#include "kernels/arguments/copy.hpp"

#include "kernels/reference/axis_walk.hpp"
#include "kernels/reference/reference.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::reference {
namespace {

/// Axes [axis, kMostCopyAxes) from src[from] on.
template <class T>
void copy_axes(const CopyArguments<T>& a, std::size_t axis, std::int64_t from, std::int64_t to) {
    if (axis == kMostCopyAxes) {
        a.dst[to] = a.src[from];
        return;
    }
    for (std::int64_t i = 0; i < a.dims[axis]; ++i)
        copy_axes(a, axis + 1, from + i * a.src_strides[axis], to + i * a.dst_strides[axis]);
}

template <class T>
void copy(const CopyArguments<T>& a) {
    if (!a.same_order) return copy_axes(a, 0, 0, 0);
    for (std::int64_t i = 0; i < a.count; ++i)
        a.dst[i] = a.src[i];
}

/// Elements [0, count) of `from`'s lines, from `first_from` on, to those of `to` at `first_to`.
template <class T>
void copy_lines(const AxisView& from, const T* src, std::int64_t first_from, const AxisView& to,
                T* dst, std::int64_t first_to, std::int64_t count) {
    for_lines(to, [&](auto o, auto i) {
        for (std::int64_t e = 0; e < count; ++e)
            dst[to.at(o, first_to + e, i)] = src[from.at(o, first_from + e, i)];
    });
}

}  // namespace

DTNN_REFERENCE(reorder, CopyArguments) {
    copy(a);
}
DTNN_REFERENCE(flatten, CopyArguments) {
    copy(a);
}
DTNN_REFERENCE(unflatten, CopyArguments) {
    copy(a);
}
DTNN_REFERENCE(pixels_to_rows, CopyArguments) {
    copy(a);
}
DTNN_REFERENCE(rows_to_pixels, CopyArguments) {
    copy(a);
}

DTNN_REFERENCE(pack_weights, PackWeightsArguments) {
    team.for_ranges(a.blocks, 1, [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t b = begin; b < end; ++b) {
            for (std::int64_t row = 0; row < a.rows; ++row) {
                for (std::int64_t j = 0; j < a.block; ++j) {
                    const std::int64_t filter = b * a.block + j;
                    a.dst[(b * a.rows + row) * a.block + j] =
                        filter < a.filters ? a.src[row * a.filters + filter] : T(0);
                }
            }
        }
    });
}

DTNN_REFERENCE(concat, ConcatArguments) {
    std::int64_t first = 0;
    for (const auto& part : a.parts) {
        copy_lines(part.view, part.data, 0, a.whole, a.dst, first, part.view.extent);
        first += part.view.extent;
    }
}

DTNN_REFERENCE(slice, SliceArguments) {
    copy_lines(a.src_view, a.src, a.begin, a.dst_view, a.dst, 0, a.dst_view.extent);
}

DTNN_REFERENCE(slice_backward, SliceArguments) {
    for (std::int64_t i = 0; i < a.dst_view.elements(); ++i)
        a.dst[i] = 0;
    copy_lines(a.src_view, a.src, 0, a.dst_view, a.dst, a.begin, a.src_view.extent);
}

}  // namespace dtnn::kernels::reference
