#include <algorithm>

#include "kernels/arguments/copy.hpp"
#include "kernels/cuda/divider.hpp"
#include "kernels/cuda/image.hpp"
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
};

template <class T>
CopyAxes copy_axes_of(const CopyArguments<T>& a) {
    CopyAxis axes[4];
    int count = 0, merged = 0;
    for (std::size_t axis = 0; axis < 4; ++axis)
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
    std::copy(axes, axes + merged, result.of + 4 - merged);
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
    const T* const src = a.src;
    T* const dst = a.dst;
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
                    shared.of[row][column] = src[place.src + (place.from + column) * from.src +
                                                 (place.to + row) * to.src];
        },
        [=] DTNN_DEVICE(std::int64_t tile, int thread, Shared& shared) {
            const CopyTiles::Place place = tiles.at(tile);
            const int column = thread % kTile;
            for (int row = thread / kTile; row < kTile; row += kTileRows)
                if (place.from + row < from.extent && place.to + column < to.extent)
                    dst[place.dst + (place.from + row) * from.dst + (place.to + column) * to.dst] =
                        shared.of[column][row];
        });
}

template <class T>
void copy(const CopyArguments<T>& a, const Launch& launch) {
    const T* const src = a.src;
    T* const dst = a.dst;
    if (a.same_order) {
        launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) { dst[i] = src[i]; });
        return;
    }
    const CopyAxes axes = copy_axes_of(a);
    int fastest = 3;
    for (int axis = 0; axis < 3; ++axis)
        if (axes.of[axis].extent > 1 && axes.of[axis].src < axes.of[fastest].src) fastest = axis;
    if (fastest != 3 && axes.of[fastest].extent >= kLeastTile && axes.of[3].extent >= kLeastTile) {
        copy_tiles(a, axes, fastest, launch);
        return;
    }
    const Divider first(axes.of[1].extent), second(axes.of[2].extent), third(axes.of[3].extent);
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t x = third.quotient(i), y = second.quotient(x), z = first.quotient(y);
        const std::int64_t of[] = {z, y - z * first.by(), x - y * second.by(), i - x * third.by()};
        std::int64_t from = 0, to = 0;
        for (int axis = 0; axis < 4; ++axis) {
            from += of[axis] * axes.of[axis].src;
            to += of[axis] * axes.of[axis].dst;
        }
        dst[to] = src[from];
    });
}

}  // namespace

#define DTNN_COPY(op)                                                  \
    template <class T>                                                 \
    void op##_tiles(const CopyArguments<T>& a, const Launch& launch) { \
        copy(a, launch);                                               \
    }                                                                  \
    DTNN_CUDA_KERNEL_OF_VALUES(op##_tiles, CopyArguments)
DTNN_COPY(reorder)
DTNN_COPY(flatten)
DTNN_COPY(unflatten)
DTNN_COPY(pixels_to_rows)
DTNN_COPY(rows_to_pixels)
#undef DTNN_COPY

template <class T>
void pack_weights_each(const PackWeightsArguments<T>& a, const Launch& launch) {
    const T* const src = a.src;
    T* const dst = a.dst;
    const std::int64_t filters = a.filters, width = a.block;
    const Divider block(a.block), rows(a.rows);
    launch.each(a.blocks * a.rows * a.block, [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t line = block.quotient(i), b = rows.quotient(line);
        const std::int64_t row = line - b * rows.by(), filter = b * width + i - line * width;
        dst[i] = filter < filters ? src[row * filters + filter] : T(0);
    });
}

DTNN_CUDA_KERNEL_OF_VALUES(pack_weights_each, PackWeightsArguments)

template <class T>
void concat_each(const ConcatArguments<T>& a, const Launch& launch) {
    const ChannelPart<T>* const parts = launch.constant(a.parts);
    ImageLayout image;
    image.batch = a.batch, image.channels = a.channels;
    image.height = a.height, image.width = a.width;
    image.batch_stride = a.whole.batch_stride, image.channel_stride = a.whole.channel_stride;
    image.row_stride = a.whole.row_stride, image.column_stride = a.whole.column_stride;
    T* const dst = a.dst;
    each_element(launch, image,
                 [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
                     const ChannelPart<T>* part = parts;
                     std::int64_t channel = c;
                     for (; channel >= part->channels; ++part)
                         channel -= part->channels;
                     dst[image.at(n, c, h, w)] =
                         part->data[n * part->batch_stride + channel * part->channel_stride +
                                    h * part->row_stride + w * part->column_stride];
                 });
}

DTNN_CUDA_KERNEL_OF_VALUES(concat_each, ConcatArguments)

}  // namespace dtnn::kernels::cuda
