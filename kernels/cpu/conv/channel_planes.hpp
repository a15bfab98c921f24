#pragma once
/// Images stored channels last, as planes of one channel each, and back: what the "planes" kernels
/// are made of. Both ways are shuffles of pairs of vectors, as many rounds as the number of
/// channels, a power of two, has bits: each moves one bit of an element's place.

#include <cstdint>

#include "kernels/cpu/gemm_tile.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Interleaves a and b, element by element: gives the first half of all 2L elements, or the second.
template <class T, int L, int... i>
DTNN_INLINE Vector<T, L> first_in_turn(Vector<T, L> a, Vector<T, L> b, Indices<i...>) {
    return __builtin_shufflevector(a, b, (i / 2 + i % 2 * L)...);
}
template <class T, int L, int... i>
DTNN_INLINE Vector<T, L> second_in_turn(Vector<T, L> a, Vector<T, L> b, Indices<i...>) {
    return __builtin_shufflevector(a, b, (L / 2 + i / 2 + i % 2 * L)...);
}

/// Takes the elements at even places of a and then b, or those at odd ones.
template <class T, int L, int... i>
DTNN_INLINE Vector<T, L> even_places(Vector<T, L> a, Vector<T, L> b, Indices<i...>) {
    return __builtin_shufflevector(a, b, (2 * i)...);
}
template <class T, int L, int... i>
DTNN_INLINE Vector<T, L> odd_places(Vector<T, L> a, Vector<T, L> b, Indices<i...>) {
    return __builtin_shufflevector(a, b, (2 * i + 1)...);
}

/// L pixels of N planes become N vectors of whole pixels, N channels each.
template <class T, int L, int N, int kRounds = N>
DTNN_INLINE void join_planes(Vector<T, L> (&values)[N]) {
    if constexpr (kRounds > 1) {
        using All = std::make_integer_sequence<int, L>;
        Vector<T, L> joined[N];
        expand<N / 2>([&]<int... i>(Indices<i...>) DTNN_UNROLLED {
            ((joined[2 * i] = first_in_turn<T, L>(values[i], values[i + N / 2], All()),
              joined[2 * i + 1] = second_in_turn<T, L>(values[i], values[i + N / 2], All())),
             ...);
        });
        join_planes<T, L, N, kRounds / 2>(joined);
        expand<N>([&]<int... i>(Indices<i...>) DTNN_UNROLLED { ((values[i] = joined[i]), ...); });
    }
}

/// The inverse.
template <class T, int L, int N, int kRounds = N>
DTNN_INLINE void split_planes(Vector<T, L> (&values)[N]) {
    if constexpr (kRounds > 1) {
        using All = std::make_integer_sequence<int, L>;
        Vector<T, L> parts[N];
        expand<N / 2>([&]<int... i>(Indices<i...>) DTNN_UNROLLED {
            ((parts[i] = even_places<T, L>(values[2 * i], values[2 * i + 1], All()),
              parts[i + N / 2] = odd_places<T, L>(values[2 * i], values[2 * i + 1], All())),
             ...);
        });
        split_planes<T, L, N, kRounds / 2>(parts);
        expand<N>([&]<int... i>(Indices<i...>) DTNN_UNROLLED { ((values[i] = parts[i]), ...); });
    }
}

/// Copies `width` pixels of `depth` channels to as many planes, `plane` elements apart.
template <class T>
using SplitRow = void (*)(const T* from, std::int64_t width, std::int64_t depth, T* to,
                          std::int64_t plane);

template <class T>
void split_row_by_elements(const T* from, std::int64_t width, std::int64_t depth, T* to,
                           std::int64_t plane) {
    for (std::int64_t x = 0; x < width; ++x) {
        for (std::int64_t d = 0; d < depth; ++d)
            to[d * plane + x] = *from++;
    }
}

/// The same of N channels. The last pixels are copied twice rather than one by one.
template <class T, int N, int L = kLanes<T>>
void split_row(const T* from, std::int64_t width, std::int64_t, T* to, std::int64_t plane) {
    if (width < L) {
        if constexpr (L > 4) return split_row<T, N, L / 2>(from, width, N, to, plane);
        return split_row_by_elements(from, width, std::int64_t{N}, to, plane);
    }
    for (std::int64_t x = 0; x < width; x += L) {
        const std::int64_t at = x + L <= width ? x : width - L;
        Vector<T, L> values[N];
        expand<N>([&]<int... i>(Indices<i...>)
                      DTNN_UNROLLED { ((values[i] = load<T, L>(from + at * N + i * L)), ...); });
        split_planes<T, L, N>(values);
        expand<N>([&]<int... i>(Indices<i...>)
                      DTNN_UNROLLED { (store<T, L>(to + i * plane + at, values[i]), ...); });
    }
}

template <class T>
SplitRow<T> split_row_of(std::int64_t depth) {
    switch (depth) {
        case 1:
            return &split_row<T, 1>;
        case 2:
            return &split_row<T, 2>;
        case 4:
            return &split_row<T, 4>;
        case 8:
            return &split_row<T, 8>;
        case 16:
            return &split_row<T, 16>;
        default:
            return &split_row_by_elements<T>;
    }
}

/// A padded image whose bands of rows become planes, one after the other in the same memory.
template <class T>
struct PlaneBands {
    const T* src = nullptr;
    std::int64_t height = 0, width = 0, depth = 0;
    std::int64_t pad_left = 0;
    std::int64_t columns = 0;  ///< elements from one row of a plane to the next
    std::int64_t plane = 0;    ///< elements from one plane to the next
    SplitRow<T> split = nullptr;

    /// Copies rows [first, first + rows) of image n, zeros where it has none. What is between the
    /// rows of a plane is never written: it is zero from the start.
    void copy(std::int64_t n, std::int64_t first, std::int64_t rows, T* to) const {
        to += pad_left;
        for (std::int64_t y = first; y < first + rows; ++y, to += columns) {
            if (y >= 0 && y < height) {
                split(src + (n * height + y) * width * depth, width, depth, to, plane);
                continue;
            }
            for (std::int64_t d = 0; d < depth; ++d) {
                for (std::int64_t x = 0; x < width; ++x)
                    to[d * plane + x] = T(0);
            }
        }
    }
};

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
