#include <algorithm>

#include "kernels/arguments/copy.hpp"
#include "kernels/cuda/divider.hpp"
#include "kernels/cuda/kernel.hpp"

namespace dtnn::kernels::cuda {
namespace {

struct CopyAxis {
    std::int64_t extent = 1, src = 0, dst = 0;
};
/// From the slowest to the fastest of the destination; neighbours that both sides keep together are
/// one axis.
struct CopyAxes {
    CopyAxis of[4];
    int more = 0;  ///< before them
    CopyAxis before[kMostCopyAxes - 4];
};

template <class T>
CopyAxes copy_axes_of(const CopyArguments<T>& a) {
    CopyAxis axes[kMostCopyAxes];
    int count = 0, merged = 0;
    for (std::size_t axis = 0; axis < kMostCopyAxes; ++axis)
        if (a.dims[axis] > 1)
            axes[count++] = {a.dims[axis], a.src_strides[axis], a.dst_strides[axis]};
    std::sort(axes, axes + count,
              [](const CopyAxis& x, const CopyAxis& y) { return x.dst > y.dst; });
    for (int axis = 0; axis < count; ++axis) {
        const CopyAxis inner = axes[axis];
        CopyAxis* const outer = merged > 0 ? &axes[merged - 1] : nullptr;
        if (outer != nullptr && outer->src == inner.src * inner.extent &&
            outer->dst == inner.dst * inner.extent) {
            *outer = {outer->extent * inner.extent, inner.src, inner.dst};
        } else {
            axes[merged++] = inner;
        }
    }
    CopyAxes result;
    result.more = std::max(merged - 4, 0);
    std::copy(axes, axes + result.more, result.before);
    std::copy(axes + result.more, axes + merged, result.of + 4 - (merged - result.more));
    return result;
}

/// A tile has neighbours of the source and neighbours of the destination. Axes shorter than
/// kLeastTile are not worth it.
constexpr int kTile = 32, kTileRows = kThreads / kTile, kLeastTile = 8;

template <class T>
struct CopyTile {
    T of[kTile][kTile + 1];  // one more: columns lie in different banks
};

/// The tiles between two axes, for each place along the two others.
struct CopyTiles {
    CopyAxis from, to, outer, inner;
    Divider across, down, inner_extent;

    /// A tile's place: its first places along `from` and `to`, and where those of the others lie.
    struct Place {
        std::int64_t from, to, src, dst;
    };
    DTNN_DEVICE Place at(std::int64_t tile) const {
        const std::int64_t row = across.quotient(tile), rest = down.quotient(row);
        const std::int64_t o = inner_extent.quotient(rest), i = rest - o * inner_extent.by();
        return {(tile - row * across.by()) * kTile, (row - rest * down.by()) * kTile,
                o * outer.src + i * inner.src, o * outer.dst + i * inner.dst};
    }
};

template <class T>
void copy_tiles(const CopyArguments<T>& a, const CopyAxes& axes, int fastest,
                const Launch& launch) {
    const CopyAxis from = axes.of[fastest], to = axes.of[3];
    const CopyAxis outer = axes.of[fastest == 0 ? 1 : 0], inner = axes.of[fastest == 2 ? 1 : 2];
    const Divider across((from.extent + kTile - 1) / kTile), down((to.extent + kTile - 1) / kTile);
    const CopyTiles tiles{from, to, outer, inner, across, down, Divider(inner.extent)};
    using Shared = CopyTile<T>;
    launch.template groups<Shared>(
        outer.extent * inner.extent * across.by() * down.by(),
        [=] DTNN_DEVICE(std::int64_t tile, int thread, Shared& shared) {
            const CopyTiles::Place place = tiles.at(tile);
            const int column = thread % kTile;
            for (int row = thread / kTile; row < kTile; row += kTileRows)
                if (place.from + column < from.extent && place.to + row < to.extent)
                    shared.of[row][column] = a.src[place.src + (place.from + column) * from.src +
                                                   (place.to + row) * to.src];
        },
        [=] DTNN_DEVICE(std::int64_t tile, int thread, Shared& shared) {
            const CopyTiles::Place place = tiles.at(tile);
            const int column = thread % kTile;
            for (int row = thread / kTile; row < kTile; row += kTileRows)
                if (place.from + row < from.extent && place.to + column < to.extent)
                    a.dst[place.dst + (place.from + row) * from.dst +
                          (place.to + column) * to.dst] = shared.of[column][row];
        });
}

template <class T>
void copy(const CopyArguments<T>& a, const Launch& launch) {
    if (a.same_order) {
        launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) { a.dst[i] = a.src[i]; });
        return;
    }
    const CopyAxes axes = copy_axes_of(a);
    int fastest = 3;
    for (int axis = 0; axis < 3; ++axis)
        if (axes.of[axis].extent > 1 && axes.of[axis].src < axes.of[fastest].src) fastest = axis;
    if (axes.more == 0 && fastest != 3 && axes.of[fastest].extent >= kLeastTile &&
        axes.of[3].extent >= kLeastTile) {
        copy_tiles(a, axes, fastest, launch);
        return;
    }
    const Divider first(axes.of[1].extent), second(axes.of[2].extent), third(axes.of[3].extent);
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t x = third.quotient(i), y = second.quotient(x), z = first.quotient(y);
        std::int64_t of[] = {z, y - z * first.by(), x - y * second.by(), i - x * third.by()};
        std::int64_t from = 0, to = 0;
        if (axes.more > 0) {
            std::int64_t rest = z / axes.of[0].extent;
            of[0] = z - rest * axes.of[0].extent;
            for (int axis = axes.more; axis-- > 0;) {
                const CopyAxis& outer = axes.before[axis];
                const std::int64_t place = rest % outer.extent;
                rest /= outer.extent;
                from += place * outer.src;
                to += place * outer.dst;
            }
        }
        for (int axis = 0; axis < 4; ++axis) {
            from += of[axis] * axes.of[axis].src;
            to += of[axis] * axes.of[axis].dst;
        }
        a.dst[to] = a.src[from];
    });
}

}  // namespace

#define DTNN_COPY(op)                                       \
    DTNN_CUDA_KERNEL_OF_VALUES(op##_tiles, CopyArguments) { \
        copy(a, launch);                                    \
    }
DTNN_COPY(reorder)
DTNN_COPY(flatten)
DTNN_COPY(unflatten)
DTNN_COPY(pixels_to_rows)
DTNN_COPY(rows_to_pixels)
#undef DTNN_COPY

DTNN_CUDA_KERNEL_OF_VALUES(pack_weights_each, PackWeightsArguments) {
    const Divider block(a.block), rows(a.rows);
    launch.each(a.blocks * a.rows * a.block, [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t line = block.quotient(i), b = rows.quotient(line);
        const std::int64_t row = line - b * rows.by(), filter = b * a.block + i - line * a.block;
        a.dst[i] = filter < a.filters ? a.src[row * a.filters + filter] : T(0);
    });
}

namespace {

/// Element `at` of a view, counted as the destinations of devices mostly lie.
struct PlaceAlong {
    std::int64_t o, e, i;
};
struct Places {
    Divider line, inner;

    explicit Places(const AxisView& view) : line(view.extent * view.inner), inner(view.inner) {}
    DTNN_DEVICE PlaceAlong operator()(std::int64_t at) const {
        const std::int64_t o = line.quotient(at), rest = at - o * line.by();
        const std::int64_t e = inner.quotient(rest);
        return {o, e, rest - e * inner.by()};
    }
};

}  // namespace

DTNN_CUDA_KERNEL_OF_VALUES(concat_each, ConcatArguments) {
    const auto* const parts = launch.constant(a.parts);
    const AxisView whole = a.whole;
    const Places places(whole);
    T* const dst = a.dst;
    launch.each(whole.elements(), [=] DTNN_DEVICE(std::int64_t at) {
        const PlaceAlong p = places(at);
        const auto* part = parts;
        std::int64_t e = p.e;
        for (; e >= part->view.extent; ++part)
            e -= part->view.extent;
        dst[whole.at(p.o, p.e, p.i)] = part->data[part->view.at(p.o, e, p.i)];
    });
}

DTNN_CUDA_KERNEL_OF_VALUES(slice_each, SliceArguments) {
    const AxisView from = a.src_view, to = a.dst_view;
    const Places places(to);
    launch.each(to.elements(), [=] DTNN_DEVICE(std::int64_t at) {
        const PlaceAlong p = places(at);
        a.dst[to.at(p.o, p.e, p.i)] = a.src[from.at(p.o, a.begin + p.e, p.i)];
    });
}

DTNN_CUDA_KERNEL_OF_VALUES(slice_backward_each, SliceArguments) {
    const AxisView from = a.src_view, to = a.dst_view;
    const Places places(to);
    launch.each(to.elements(), [=] DTNN_DEVICE(std::int64_t at) {
        const PlaceAlong p = places(at);
        const std::int64_t e = p.e - a.begin;
        a.dst[to.at(p.o, p.e, p.i)] =
            e >= 0 && e < from.extent ? a.src[from.at(p.o, e, p.i)] : T(0);
    });
}

}  // namespace dtnn::kernels::cuda
