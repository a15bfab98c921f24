#include "kernels/arguments/copy.hpp"

#include "kernels/cpu/simd.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Elements that are worth a thread.
constexpr std::int64_t kCopyGrain = 8192;
std::int64_t copy_grain(std::int64_t elements) {
    return elements >= kCopyGrain ? 1 : kCopyGrain / elements;
}

template <class T>
DTNN_INLINE void copy_run(T* dst, const T* src, std::int64_t count) {
    for_channels<T>(count, [&](auto lanes, std::int64_t i) {
        using V = decltype(lanes);
        V::store(dst + i, V::load(src + i));
    });
}

/// The axis with the smallest stride among those of more than one element; 3 when there is none.
int unit_axis(const std::array<std::int64_t, 4>& dims, const std::array<std::int64_t, 4>& strides) {
    int axis = 3;
    for (int candidate = 0; candidate < 4; ++candidate) {
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
    // The other axes, outermost in dst first; when d and s are one there is a third, of one pass.
    int outer[3] = {-1, -1, -1};
    int count = 0;
    for (int axis = 0; axis < 4; ++axis) {
        if (axis != d && axis != s) outer[count++] = axis;
    }
    const std::int64_t n0 = dims[outer[0]], n1 = dims[outer[1]];
    const std::int64_t n2 = count == 3 ? dims[outer[2]] : 1;
    const std::int64_t block = dims[d] * (d == s ? 1 : dims[s]);
    constexpr std::int64_t kTile = 64 / std::int64_t(sizeof(T));
    const std::int64_t bands = d == s ? 1 : (dims[s] + kTile - 1) / kTile;
    const std::int64_t units = n0 * n1 * n2 * bands;
    team.for_pieces(units, copy_grain(block / bands + 1), [&](auto begin, auto end, int) {
        for (std::int64_t unit = begin; unit < end; ++unit) {
            const std::int64_t band = unit % bands, i2 = unit / bands % n2;
            const std::int64_t i1 = unit / bands / n2 % n1, i0 = unit / bands / n2 / n1;
            const T* src = a.src + i0 * from[outer[0]] + i1 * from[outer[1]];
            T* dst = a.dst + i0 * to[outer[0]] + i1 * to[outer[1]];
            if (count == 3) src += i2 * from[outer[2]], dst += i2 * to[outer[2]];
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

template <class T>
void reorder_tiles(const CopyArguments<T>& a, ThreadTeam& team) {
    copy(a, team);
}
template <class T>
void flatten_tiles(const CopyArguments<T>& a, ThreadTeam& team) {
    copy(a, team);
}
template <class T>
void unflatten_tiles(const CopyArguments<T>& a, ThreadTeam& team) {
    copy(a, team);
}
template <class T>
void pixels_to_rows_tiles(const CopyArguments<T>& a, ThreadTeam& team) {
    copy(a, team);
}
template <class T>
void rows_to_pixels_tiles(const CopyArguments<T>& a, ThreadTeam& team) {
    copy(a, team);
}

template <class T>
void concat_channels_last(const ConcatArguments<T>& a, ThreadTeam& team) {
    const std::int64_t pixels = a.batch * a.height * a.width;
    team.for_pieces(pixels, copy_grain(a.channels), [&](auto begin, auto end, int) {
        std::int64_t first = 0;
        for (std::size_t p = 0; p < a.parts.size(); ++p) {
            const ChannelPart<T>& part = a.parts.data()[p];
            for (std::int64_t pixel = begin; pixel < end; ++pixel) {
                copy_run(a.dst + pixel * a.channels + first, part.data + pixel * part.channels,
                         part.channels);
            }
            first += part.channels;
        }
    });
}

DTNN_KERNEL(reorder_tiles, CopyArguments)
DTNN_KERNEL(flatten_tiles, CopyArguments)
DTNN_KERNEL(unflatten_tiles, CopyArguments)
DTNN_KERNEL(pixels_to_rows_tiles, CopyArguments)
DTNN_KERNEL(rows_to_pixels_tiles, CopyArguments)
DTNN_KERNEL(concat_channels_last, ConcatArguments)

}  // namespace dtnn::kernels::DTNN_ISA
