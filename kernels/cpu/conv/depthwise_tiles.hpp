#pragma once
/// A row of a depthwise convolution's results, and the tiles that compute it: see
/// depthwise_conv.hpp.

#include <cstdint>

#include "kernels/cpu/conv/depthwise_band.hpp"
#include "kernels/cpu/gemm_tile.hpp"
#include "kernels/workspace/depthwise.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// The taps of a column of the kernel, for one class of the results of a row: what result 0 of the
/// class reads, and which results have that cell inside the source.
struct ColumnTap {
    std::int64_t source;   ///< elements from the beginning of the source's row
    std::int64_t weights;  ///< elements from the beginning of the kernel's row
    std::int32_t first, last;
    std::int32_t part;  ///< the class

    bool reaches(std::int64_t result) const { return first <= result && result < last; }
};

/// A row of the kernel, for one row of results: elements from the beginning of the source and of
/// the weights.
struct RowTap {
    std::int64_t source, weights;
};
static_assert(sizeof(ColumnTap) <= DepthwiseWorkspace::kTapBytes &&
              sizeof(RowTap) <= DepthwiseWorkspace::kTapBytes);

/// Results of a tile whose cells reach several of them: with two vectors of sums each they fill
/// half of the registers, the rest is for the weights of five columns and a cell.
inline constexpr int kSlidingResults = kVectorBytes == 64 ? 8 : 4;

/// The constants that the tiles of one class of one row share.
template <class T>
struct DepthwiseRow {
    std::int64_t channels = 0;
    const T* src = nullptr;
    const T* weights = nullptr;
    std::int64_t source_step = 0;  ///< elements between the sources of neighbouring results
    std::int64_t result = 0;       ///< elements from the beginning of dst to result 0
    std::int64_t result_step = 0;
    T* dst = nullptr;
    const T* bias = nullptr;
    const T* residual = nullptr;
    const T* mask = nullptr;
    bool relu = false;
    double* partial = nullptr;  ///< [2, channels]: sums of dst - bias, and of its squares

    const RowTap* rows = nullptr;  ///< of the kernel
    std::int64_t row_count = 0;
    const ColumnTap* columns = nullptr;  ///< by ascending cells
    std::int64_t column_count = 0;
    /// The cell of the source's row that result 0 reads first (of spreading tiles, the cell that
    /// lies below it), and how many there are.
    std::int64_t first_cell = 0, source_cells = 0;
    DepthwiseAhead* ahead = nullptr;  ///< null: nothing is asked for
};

/// Results [0, results) of a row, V vectors from channel c on.
template <class T>
using SlidingRow = void (*)(const DepthwiseRow<T>&, std::int64_t results, std::int64_t c);

/// The first `count` of R results, at element `at` of dst, of V vectors from channel c on.
template <class T, int L, int R, int V>
DTNN_INLINE void finish_results(const DepthwiseRow<T>& row, const Vector<T, L> (&sums)[R][V],
                                std::int64_t count, std::int64_t at, std::int64_t c) {
    Vector<T, L> bias[V] = {};
    if (row.bias)
        unroll<V>([&](auto v) DTNN_UNROLLED { bias[v] = load<T, L>(row.bias + c + v * L); });
    const bool plain = !row.residual && !row.mask;
    unroll<R>([&](auto r) DTNN_UNROLLED {
        if (r >= count) return;
        unroll<V>([&](auto v) DTNN_UNROLLED {
            const std::int64_t cell = at + r * row.result_step + v * L;
            Vector<T, L> value = sums[r][v] + bias[v];
            if (!plain && row.residual) value += load<T, L>(row.residual + cell);
            if (row.relu) value = value < T(0) ? Vector<T, L>{} : value;
            if (!plain && row.mask)
                value = load<T, L>(row.mask + cell) > T(0) ? value : Vector<T, L>{};
            store<T, L>(row.dst + cell, value);
        });
    });
    if (!row.partial) return;
    // Read back, because a vector has too many lanes for one of doubles.
    constexpr int D = L < kLanes<double> ? L : kLanes<double>;
    for (int lane = 0; lane < V * L; lane += D) {
        double* const total = row.partial + c + lane;
        double* const square = total + row.channels;
        Vector<double, D> sum = load<double, D>(total);
        Vector<double, D> squares = load<double, D>(square);
        Vector<double, D> origin = {};
        if (row.bias)
            origin = __builtin_convertvector((load<T, D>(row.bias + c + lane)), Vector<double, D>);
        for (std::int64_t r = 0; r < count; ++r) {
            const auto value =
                __builtin_convertvector((load<T, D>(row.dst + at + r * row.result_step + lane)),
                                        Vector<double, D>) -
                origin;
            sum += value;
            squares += value * value;
        }
        store<double, D>(total, sum);
        store<double, D>(square, squares);
    }
}

/// R results from `column` on, V vectors from channel c on, over the given columns of the kernel.
template <class T, int L, int R, int V>
void depthwise_tile(const DepthwiseRow<T>& row, const ColumnTap* columns, std::int64_t column_count,
                    std::int64_t column, std::int64_t c) {
    Vector<T, L> sums[R][V] = {};
    const std::int64_t shift = column * row.source_step + c;
    const std::int64_t at = row.result + column * row.result_step + c;
    if constexpr (R > 1 && L == kLanes<T>) ask_ahead<R, V>(row.ahead);
    for (std::int64_t y = 0; y < row.row_count; ++y) {
        const T* const source = row.src + (row.rows[y].source + shift);
        const T* const filter = row.weights + (row.rows[y].weights + c);
        for (std::int64_t x = 0; x < column_count; ++x) {
            const T* const from = source + columns[x].source;
            Vector<T, L> weights[V];
            unroll<V>([&](auto v) DTNN_UNROLLED {
                weights[v] = load<T, L>(filter + columns[x].weights + v * L);
            });
            unroll<R>([&](auto r) DTNN_UNROLLED {
                unroll<V>([&](auto v) DTNN_UNROLLED {
                    sums[r][v] += load<T, L>(from + r * row.source_step + v * L) * weights[v];
                });
            });
        }
    }
    finish_results<T, L, R, V>(row, sums, R, at, c);
}

/// The first `count` of R results from `column` on, where the K columns of the kernel read cells
/// side by side and neighbouring results cells that are S apart: a cell is loaded once for all
/// results that read it. kChecked: some of the cells are outside the source.
template <class T, int K, int S, int R, int V, bool kChecked>
void sliding_tile(const DepthwiseRow<T>& row, std::int64_t column, std::int64_t count,
                  std::int64_t c) {
    constexpr int L = kLanes<T>, kCells = (R - 1) * S + K;
    Vector<T, L> sums[R][V] = {};
    const std::int64_t shift = column * row.source_step + c;
    const std::int64_t at = row.result + column * row.result_step + c;
    ask_ahead<R, V>(row.ahead);
    const std::int64_t channels = row.channels;
    const std::int64_t from = row.columns[0].source + shift;
    const std::int64_t before = -(row.first_cell + column * S);
    const std::int64_t inside = before + row.source_cells;
    for (std::int64_t y = 0; y < row.row_count; ++y) {
        const T* cell = row.src + (row.rows[y].source + from);
        const T* const filter = row.weights + (row.rows[y].weights + c);
        Vector<T, L> weights[K][V];
        unroll<K>([&](auto k) DTNN_UNROLLED {
            unroll<V>([&](auto v) DTNN_UNROLLED {
                weights[k][v] = load<T, L>(filter + row.columns[k].weights + v * L);
            });
        });
        unroll<kCells>([&](auto j) DTNN_UNROLLED {
            if (!kChecked || (j >= before && j < inside)) {
                Vector<T, L> value[V];
                unroll<V>([&](auto v) DTNN_UNROLLED { value[v] = load<T, L>(cell + v * L); });
                unroll<K>([&](auto k) DTNN_UNROLLED {
                    if constexpr (j >= k && (j - k) % S == 0 && (j - k) / S < R) {
                        unroll<V>([&](auto v) DTNN_UNROLLED {
                            sums[(j - k) / S][v] += value[v] * weights[k][v];
                        });
                    }
                });
            }
            cell += channels;
        });
    }
    finish_results<T, L, R, V>(row, sums, kChecked ? count : R, at, c);
}

/// The first `count` of R results of a gradient of stride 2, from `column` on, which is even: the K
/// taps of result r, 2 * kHalf + P cells of padding before it, are those k for which r + P - k is
/// even, from cells half as far apart as the results, and a cell is loaded once for all results
/// that it reaches. row.first_cell is kHalf. kChecked: some of the cells are outside the source.
template <class T, int K, int P, int R, int V, bool kChecked>
void spreading_tile(const DepthwiseRow<T>& row, std::int64_t column, std::int64_t count,
                    std::int64_t c) {
    constexpr int L = kLanes<T>, kBefore = (K - 1 - P) / 2, kCells = kBefore + (R - 1 + P) / 2 + 1;
    Vector<T, L> sums[R][V] = {};
    const std::int64_t channels = row.channels, at = row.result + column * channels + c;
    const std::int64_t first = column / 2 + row.first_cell - kBefore;
    ask_ahead<R, V>(row.ahead);
    for (std::int64_t y = 0; y < row.row_count; ++y) {
        const T* cell = row.src + (row.rows[y].source + first * channels + c);
        const T* const filter = row.weights + (row.rows[y].weights + c);
        Vector<T, L> weights[K][V];
        unroll<K>([&](auto k) DTNN_UNROLLED {
            unroll<V>([&](auto v) DTNN_UNROLLED {
                weights[k][v] = load<T, L>(filter + k * channels + v * L);
            });
        });
        unroll<kCells>([&](auto j) DTNN_UNROLLED {
            if (!kChecked || (first + j >= 0 && first + j < row.source_cells)) {
                Vector<T, L> value[V];
                unroll<V>([&](auto v) DTNN_UNROLLED { value[v] = load<T, L>(cell + v * L); });
                unroll<K>([&](auto k) DTNN_UNROLLED {
                    constexpr int r = 2 * (j - kBefore) + k - P;
                    if constexpr (r >= 0 && r < R) {
                        unroll<V>([&](auto v)
                                      DTNN_UNROLLED { sums[r][v] += value[v] * weights[k][v]; });
                    }
                });
            }
            cell += channels;
        });
    }
    finish_results<T, L, R, V>(row, sums, kChecked ? count : R, at, c);
}

/// Results [0, results) of a row by spreading tiles, V vectors from channel c on.
template <class T, int K, int P, int V>
void spreading_row(const DepthwiseRow<T>& row, std::int64_t results, std::int64_t c) {
    constexpr int R = kSlidingResults, kBefore = (K - 1 - P) / 2, kBehind = (R - 1 + P) / 2;
    for (std::int64_t column = 0; column < results; column += R) {
        const std::int64_t cell = column / 2 + row.first_cell, left = results - column;
        if (left >= R && cell >= kBefore && cell + kBehind < row.source_cells)
            spreading_tile<T, K, P, R, V, false>(row, column, R, c);
        else
            spreading_tile<T, K, P, R, V, true>(row, column, left < R ? left : R, c);
    }
}

/// For the gradient of stride 2 of a kernel K wide, behind `padding` cells, if tiles are compiled
/// for it; else null.
template <class T, int V>
SlidingRow<T> spreading_row_of(std::int64_t kernel, std::int64_t padding) {
    if constexpr (sizeof(T) == sizeof(float)) {
        const bool odd = padding % 2 != 0;
        if (kernel == 3) return odd ? spreading_row<T, 3, 1, V> : spreading_row<T, 3, 0, V>;
        if (kernel == 5) return odd ? spreading_row<T, 5, 1, V> : spreading_row<T, 5, 0, V>;
    }
    return nullptr;
}

/// The results of a row whose cells are all inside the source.
template <class T>
DTNN_INLINE void inner_results(const DepthwiseRow<T>& row, std::int64_t results,
                               std::int64_t& first, std::int64_t& last) {
    first = 0, last = results;
    for (std::int64_t i = 0; i < row.column_count; ++i) {
        if (row.columns[i].first > first) first = row.columns[i].first;
        if (row.columns[i].last < last) last = row.columns[i].last;
    }
}

/// Results [0, results) of a row by sliding tiles, V vectors from channel c on.
template <class T, int K, int S, int V>
void sliding_row(const DepthwiseRow<T>& row, std::int64_t results, std::int64_t c) {
    std::int64_t first, last;
    inner_results(row, results, first, last);
    // By two, wider tiles would load hardly less.
    constexpr int R = S == 1 ? kSlidingResults : 4;
    for (std::int64_t column = 0; column < results; column += R) {
        const std::int64_t left = results - column;
        if (column >= first && column + R <= last)
            sliding_tile<T, K, S, R, V, false>(row, column, R, c);
        else if (left <= R / 2)
            sliding_tile<T, K, S, R / 2, V, true>(row, column, left, c);
        else
            sliding_tile<T, K, S, R, V, true>(row, column, left < R ? left : R, c);
    }
}

/// For the row's class, if its columns are some for which tiles are compiled; else null.
template <class T, int V>
SlidingRow<T> sliding_row_of(const DepthwiseRow<T>& row) {
    if (row.result_step != row.channels) return nullptr;  // few taps reach a result
    if constexpr (sizeof(T) == sizeof(float)) {           // doubles are for checks
        for (std::int64_t k = 1; k < row.column_count; ++k) {
            if (row.columns[k].source - row.columns[k - 1].source != row.channels) return nullptr;
        }
        const std::int64_t stride = row.source_step / row.channels;
        if (stride == 1 && row.column_count == 3) return sliding_row<T, 3, 1, V>;
        if (stride == 1 && row.column_count == 5) return sliding_row<T, 5, 1, V>;
        if (stride == 2 && row.column_count == 3) return sliding_row<T, 3, 2, V>;
        if (stride == 2 && row.column_count == 5) return sliding_row<T, 5, 2, V>;
    }
    return nullptr;
}

/// Results [0, results) of a row, V vectors from channel c on.
template <class T, int L, int V>
void depthwise_row(const DepthwiseRow<T>& row, std::int64_t results, std::int64_t c) {
    std::int64_t first, last;
    inner_results(row, results, first, last);
    // Those that reach a result follow each other.
    const auto at_edge = [&](std::int64_t column) {
        std::int64_t from = 0, until = row.column_count;
        while (from < until && !row.columns[from].reaches(column))
            ++from;
        while (from < until && !row.columns[until - 1].reaches(column))
            --until;
        depthwise_tile<T, L, 1, V>(row, row.columns + from, until - from, column, c);
    };
    std::int64_t column = 0;
    for (; column < first && column < results; ++column)
        at_edge(column);
    for (; column + 4 <= last; column += 4)
        depthwise_tile<T, L, 4, V>(row, row.columns, row.column_count, column, c);
    if (column + 3 == last) {
        depthwise_tile<T, L, 3, V>(row, row.columns, row.column_count, column, c);
        column += 3;
    } else if (column + 2 == last) {
        depthwise_tile<T, L, 2, V>(row, row.columns, row.column_count, column, c);
        column += 2;
    }
    for (; column < results; ++column)
        at_edge(column);
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
