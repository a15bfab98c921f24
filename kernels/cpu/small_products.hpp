#pragma once
/// Products of matrices that lie in the first caches, added to what is there: of the heads of
/// attention, of the state of recurrent cells. The columns are whole vectors.

#include "kernels/cpu/gemm_tile.hpp"
#include "kernels/cpu/simd.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// A matrix whose number (r, k) is at first[r * row + k * step].
template <class T>
struct SmallMatrix {
    const T* first;
    std::int64_t row, step = 1;
};

/// R rows by V vectors: c[r][v] += sum over k of a(r, k) * b[k][v].
template <class T, int R, int V>
DTNN_INLINE void multiply_small_tile(std::int64_t length, const SmallMatrix<T>& a, const T* b,
                                     std::int64_t b_row, T* c, std::int64_t c_row) {
    constexpr int L = kLanes<T>;
    Vector<T, L> sums[R][V];
    const T* rows[R];
    unroll<R>([&](auto r) DTNN_UNROLLED {
        rows[r] = a.first + r * a.row;
        unroll<V>([&](auto v) DTNN_UNROLLED { sums[r][v] = load<T, L>(c + r * c_row + v * L); });
    });
    const std::int64_t step = a.step;
    for (std::int64_t k = 0, at = 0; k < length; ++k, b += b_row, at += step) {
        Vector<T, L> across[V];
        unroll<V>([&](auto v) DTNN_UNROLLED { across[v] = load<T, L>(b + v * L); });
        unroll<R>([&](auto r) DTNN_UNROLLED {
            const Vector<T, L> down = broadcast<T, L>(rows[r][at]);
            unroll<V>([&](auto v) DTNN_UNROLLED { sums[r][v] += down * across[v]; });
        });
    }
    unroll<R>([&](auto r) DTNN_UNROLLED {
        unroll<V>([&](auto v) DTNN_UNROLLED { store<T, L>(c + r * c_row + v * L, sums[r][v]); });
    });
}

template <class T, int V>
void multiply_small_strip(std::int64_t rows, std::int64_t length, SmallMatrix<T> a, const T* b,
                          std::int64_t b_row, T* c, std::int64_t c_row) {
    const auto tile = [&](auto count) {
        constexpr int R = decltype(count)::value;
        for (; rows >= R; rows -= R, a.first += R * a.row, c += R * c_row)
            multiply_small_tile<T, R, V>(length, a, b, b_row, c, c_row);
    };
    tile(std::integral_constant<int, kTileRows>{});
    tile(std::integral_constant<int, 4>{});
    tile(std::integral_constant<int, 1>{});
}

/// c += a * b, [rows, columns] of [rows, length] and [length, columns]; columns are whole vectors.
template <class T>
void multiply_small(std::int64_t rows, std::int64_t length, std::int64_t columns,
                    const SmallMatrix<T>& a, const T* b, std::int64_t b_row, T* c,
                    std::int64_t c_row) {
    constexpr int L = kLanes<T>;
    std::int64_t at = 0;
    for (; at + 2 * L <= columns; at += 2 * L)
        multiply_small_strip<T, 2>(rows, length, a, b + at, b_row, c + at, c_row);
    if (at < columns) multiply_small_strip<T, 1>(rows, length, a, b + at, b_row, c + at, c_row);
}

/// Whole vectors that hold so many numbers.
template <class T>
std::int64_t whole_vectors(std::int64_t count) {
    constexpr std::int64_t L = kLanes<T>;
    return (count + L - 1) / L * L;
}

template <class T>
void clear_numbers(T* to, std::int64_t count) {
    __builtin_memset(to, 0, std::size_t(count) * sizeof(T));
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
