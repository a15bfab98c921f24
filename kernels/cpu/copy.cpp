#include "kernels/arguments/copy.hpp"

#include "kernels/cpu/simd.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Elements that are worth a thread.
constexpr std::int64_t kCopyGrain = 8192;
std::int64_t copy_grain(std::int64_t elements) {
    return elements >= kCopyGrain || elements < 1 ? 1 : kCopyGrain / elements;
}

template <class T>
DTNN_INLINE void copy_run(T* dst, const T* src, std::int64_t count) {
    for_channels<T>(count, [&](auto lanes, std::int64_t i) {
        using V = decltype(lanes);
        V::store(dst + i, V::load(src + i));
    });
}

/// The axis with the smallest stride among those of more than one element; the last when there is
/// none.
int unit_axis(const CopyDims& dims, const CopyDims& strides) {
    constexpr int kAxes = int(kMostCopyAxes);
    int axis = kAxes - 1;
    for (int candidate = 0; candidate < kAxes; ++candidate) {
        if (dims.data()[candidate] == 1) continue;
        if (dims.data()[axis] == 1 || strides.data()[candidate] < strides.data()[axis]) {
            axis = candidate;
        }
    }
    return axis;
}

/// A general permutation. With `d` the axis along which dst is dense and `s` the one along which
/// src is: runs when they are the same, else square tiles of the two, so that every cache line read
/// and written is used while it is there.
template <class T>
void permute(const CopyArguments<T>& a, ThreadTeam& team) {
    const std::int64_t* const dims = a.dims.data();
    const std::int64_t* const from = a.src_strides.data();
    const std::int64_t* const to = a.dst_strides.data();
    const int d = unit_axis(a.dims, a.dst_strides), s = unit_axis(a.dims, a.src_strides);
    // The other axes, outermost first.
    int outer[kMostCopyAxes] = {};
    int count = 0;
    std::int64_t places = 1;
    for (int axis = 0; axis < int(kMostCopyAxes); ++axis) {
        if (axis == d || axis == s || dims[axis] == 1) continue;
        outer[count++] = axis;
        places *= dims[axis];
    }
    const std::int64_t block = dims[d] * (d == s ? 1 : dims[s]);
    constexpr std::int64_t kTile = 64 / std::int64_t(sizeof(T));
    const std::int64_t bands = d == s ? 1 : (dims[s] + kTile - 1) / kTile;
    const std::int64_t units = places * bands;
    team.for_pieces(units, copy_grain(block / bands + 1), [&](auto begin, auto end, int) {
        for (std::int64_t unit = begin; unit < end; ++unit) {
            const std::int64_t band = unit % bands;
            std::int64_t place = unit / bands;
            const T* src = a.src;
            T* dst = a.dst;
            for (int i = count; i-- > 0;) {
                const std::int64_t extent = dims[outer[i]], at = place % extent;
                place /= extent;
                src += at * from[outer[i]], dst += at * to[outer[i]];
            }
            if (d == s) {
                copy_run(dst, src, dims[d]);
                continue;
            }
            const std::int64_t first = band * kTile;
            const std::int64_t last = first + kTile < dims[s] ? first + kTile : dims[s];
            for (std::int64_t column = 0; column < dims[d]; column += kTile) {
                const std::int64_t limit = column + kTile < dims[d] ? column + kTile : dims[d];
                for (std::int64_t i = first; i < last; ++i) {
                    const T* const line = src + i * from[s];
                    T* const result = dst + i * to[s];
                    for (std::int64_t j = column; j < limit; ++j) {
                        result[j * to[d]] = line[j * from[d]];
                    }
                }
            }
        }
    });
}

template <class T>
void copy(const CopyArguments<T>& a, ThreadTeam& team) {
    if (a.same_order) {
        team.for_pieces(a.count, kCopyGrain, [&](auto begin, auto end, int) {
            copy_run(a.dst + begin, a.src + begin, end - begin);
        });
        return;
    }
    permute(a, team);
}

}  // namespace

DTNN_KERNEL(reorder_tiles, CopyArguments) {
    copy(a, team);
}
DTNN_KERNEL(flatten_tiles, CopyArguments) {
    copy(a, team);
}
DTNN_KERNEL(unflatten_tiles, CopyArguments) {
    copy(a, team);
}
DTNN_KERNEL(pixels_to_rows_tiles, CopyArguments) {
    copy(a, team);
}
DTNN_KERNEL(rows_to_pixels_tiles, CopyArguments) {
    copy(a, team);
}

DTNN_KERNEL(concat_channels_last, ConcatArguments) {
    const std::int64_t line = a.whole.extent * a.whole.inner;
    team.for_pieces(a.whole.outer, copy_grain(line), [&](auto begin, auto end, int) {
        std::int64_t first = 0;
        for (std::size_t p = 0; p < a.parts.size(); ++p) {
            const auto& part = a.parts.data()[p];
            const std::int64_t length = part.view.extent * a.whole.inner;
            for (std::int64_t o = begin; o < end; ++o)
                copy_run(a.dst + o * line + first, part.data + o * length, length);
            first += length;
        }
    });
}

DTNN_KERNEL(slice_channels_last, SliceArguments) {
    const std::int64_t inner = a.dst_view.inner, length = a.dst_view.extent * inner;
    const std::int64_t whole = a.src_view.extent * inner;
    team.for_pieces(a.dst_view.outer, copy_grain(length), [&](auto begin, auto end, int) {
        for (std::int64_t o = begin; o < end; ++o)
            copy_run(a.dst + o * length, a.src + o * whole + a.begin * inner, length);
    });
}

DTNN_KERNEL(slice_backward_channels_last, SliceArguments) {
    const std::int64_t inner = a.dst_view.inner, length = a.src_view.extent * inner;
    const std::int64_t whole = a.dst_view.extent * inner, before = a.begin * inner;
    team.for_pieces(a.dst_view.outer, copy_grain(whole), [&](auto begin, auto end, int) {
        for (std::int64_t o = begin; o < end; ++o) {
            T* const line = a.dst + o * whole;
            for (std::int64_t i = 0; i < before; ++i)
                line[i] = 0;
            copy_run(line + before, a.src + o * length, length);
            for (std::int64_t i = before + length; i < whole; ++i)
                line[i] = 0;
        }
    });
}

}  // namespace dtnn::kernels::DTNN_ISA
