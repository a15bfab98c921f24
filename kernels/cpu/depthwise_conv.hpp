#pragma once
/// Convolutions with one channel a group, forward and backward to the data: element by element
/// along the channels, so a tile is R results of one row by V vectors of channels, kept in
/// registers while all taps pass. Every element is summed over its taps in the order of the kernel:
/// error bound taps * epsilon * sum of |products|, the same bits for any number of threads.
///
/// Backward, the results (cells of diff_src) of a row fall into as many classes as the stride is
/// wide: cells of a class are reached by the same taps, from neighbouring cells of diff_dst.
///
/// With m filters a channel everything is as wide as the filters: forward, the rows of the source
/// that a row of results reads are copied with every number m times; backward, a row of results is
/// computed aside, and each m of them are summed.

#include <cstdint>

#include "kernels/cpu/conv_statistics.hpp"
#include "kernels/cpu/expression_chunk.hpp"
#include "kernels/cpu/gemm_tile.hpp"
#include "kernels/thread_team.hpp"
#include "kernels/workspace/depthwise.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// One tap of the results of a row: where result 0 of the class reads, and which results have that
/// cell inside the source.
template <class T>
struct DepthwiseTap {
    std::int64_t source;  ///< elements from the beginning of the source
    const T* weights;
    std::int64_t first, last;
};
static_assert(sizeof(DepthwiseTap<float>) == DepthwiseWorkspace::kTapBytes);

/// What the tiles of one class of one row share.
template <class T>
struct DepthwiseRow {
    std::int64_t channels = 0;
    const T* src = nullptr;
    std::int64_t source_step = 0;  ///< elements between the sources of neighbouring results
    std::int64_t result = 0;       ///< elements from the beginning of dst to result 0
    std::int64_t result_step = 0;
    T* dst = nullptr;
    const T* bias = nullptr;
    const T* residual = nullptr;
    const T* mask = nullptr;
    bool relu = false;
    bool streams = false;  ///< source and results are larger than caches: they are asked for ahead
    double* partial = nullptr;  ///< [2, channels]: sums of dst - bias, and of its squares
};

template <class T, int L, int R, int V>
void depthwise_tile(const DepthwiseRow<T>& row, const DepthwiseTap<T>* taps, std::int64_t count,
                    std::int64_t column, std::int64_t c) {
    Vector<T, L> sums[R][V] = {};
    const T* const src = row.src;
    const std::int64_t shift = column * row.source_step + c;
    const std::int64_t at = row.result + column * row.result_step + c;
    // The results of the next tile, and what they read that none has read yet.
    if (R > 1 && L == kLanes<T> && row.streams) {
        const T* const next =
            count > 0 ? src + (taps[count - 1].source + shift + R * row.source_step) : src;
        unroll<R>([&](auto r) DTNN_UNROLLED {
            unroll<V>([&](auto v) DTNN_UNROLLED {
                __builtin_prefetch(row.dst + at + (R + r) * row.result_step + v * L, 1);
                __builtin_prefetch(next + r * row.source_step + v * L);
            });
        });
    }
    for (std::int64_t i = 0; i < count; ++i) {
        const T* const from = src + (taps[i].source + shift);
        Vector<T, L> weights[V];
        unroll<V>([&](auto v)
                      DTNN_UNROLLED { weights[v] = load<T, L>(taps[i].weights + c + v * L); });
        unroll<R>([&](auto r) DTNN_UNROLLED {
            unroll<V>([&](auto v) DTNN_UNROLLED {
                sums[r][v] += load<T, L>(from + r * row.source_step + v * L) * weights[v];
            });
        });
    }
    unroll<V>([&](auto v) DTNN_UNROLLED {
        const Vector<T, L> bias = row.bias ? load<T, L>(row.bias + c + v * L) : Vector<T, L>{};
        unroll<R>([&](auto r) DTNN_UNROLLED {
            const std::int64_t cell = at + r * row.result_step + v * L;
            Vector<T, L> value = sums[r][v] + bias;
            if (row.residual) value += load<T, L>(row.residual + cell);
            if (row.relu) value = value < T(0) ? Vector<T, L>{} : value;
            if (row.mask) value = load<T, L>(row.mask + cell) > T(0) ? value : Vector<T, L>{};
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
        for (int r = 0; r < R; ++r) {
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

/// The channels that do not fill a vector: halves, quarters, ..., one.
template <class T, int L, int R>
void depthwise_rest(const DepthwiseRow<T>& row, const DepthwiseTap<T>* taps, std::int64_t count,
                    std::int64_t column, std::int64_t c) {
    if constexpr (L >= 1) {
        if (c + L <= row.channels) {
            depthwise_tile<T, L, R, 1>(row, taps, count, column, c);
            c += L;
        }
        depthwise_rest<T, L / 2, R>(row, taps, count, column, c);
    }
}

/// R results from `column` on, all channels.
template <class T, int R>
void depthwise_columns(const DepthwiseRow<T>& row, const DepthwiseTap<T>* taps, std::int64_t count,
                       std::int64_t column) {
    constexpr int L = kLanes<T>;
    constexpr int V = R == 1 ? 4 : 2;
    std::int64_t c = 0;
    for (; c + V * L <= row.channels; c += V * L) {
        depthwise_tile<T, L, R, V>(row, taps, count, column, c);
    }
    for (; c + L <= row.channels; c += L) {
        depthwise_tile<T, L, R, 1>(row, taps, count, column, c);
    }
    depthwise_rest<T, L / 2, R>(row, taps, count, column, c);
}

/// Results [0, columns) of a row. `edge` has room for as many taps as there are.
template <class T>
void depthwise_row(const DepthwiseRow<T>& row, const DepthwiseTap<T>* taps, std::int64_t count,
                   DepthwiseTap<T>* edge, std::int64_t columns) {
    std::int64_t first = 0, last = columns;
    for (std::int64_t i = 0; i < count; ++i) {
        first = taps[i].first > first ? taps[i].first : first;
        last = taps[i].last < last ? taps[i].last : last;
    }
    const auto at_edge = [&](std::int64_t column) {
        std::int64_t inside = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            if (taps[i].first <= column && column < taps[i].last) edge[inside++] = taps[i];
        }
        depthwise_columns<T, 1>(row, edge, inside, column);
    };
    std::int64_t column = 0;
    for (; column < first && column < columns; ++column)
        at_edge(column);
    for (; column + 4 <= last; column += 4)
        depthwise_columns<T, 4>(row, taps, count, column);
    if (column + 2 <= last) {
        depthwise_columns<T, 2>(row, taps, count, column);
        column += 2;
    }
    for (; column < columns; ++column)
        at_edge(column);
}

/// One axis of the way from results to sources. Result p reads, at tap k, source (p*up + offset +
/// k*dilation) / down where that is whole: forward `up` is the stride and `down` is 1, backward
/// the other way round with a negative dilation.
struct DepthwiseAxis {
    std::int64_t source, result, kernel, up, down, offset, dilation;

    /// Whether the tap has a whole source at result p, which may lie outside.
    bool whole(std::int64_t p, std::int64_t k, std::int64_t& at) const {
        const std::int64_t cell = p * up + offset + k * dilation;
        at = cell / down;
        return at * down == cell;
    }
};

template <class T>
struct DepthwiseConv {
    DepthwiseRow<T> row;  ///< without what differs from row to row
    DepthwiseAxis y{}, x{};
    const T* weights = nullptr;
    std::int64_t batch = 0;
    std::int64_t repeat = 1;  ///< filters a channel
    bool backward = false;
    const ElementwiseArguments<T>* epilogue = nullptr;  ///< over dst, in the end; null: none
};

/// to[i*m + j] = from[i].
template <class T>
void repeat_each(const T* from, std::int64_t count, std::int64_t m, T* to) {
    for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t j = 0; j < m; ++j)
            to[i * m + j] = from[i];
    }
}

/// A row of diff_src from the row of m times as many sums; bias, relu and mask as in the tiles.
template <class T>
void sum_each(const DepthwiseConv<T>& conv, const T* from, std::int64_t row) {
    const std::int64_t m = conv.repeat, channels = conv.row.channels / m;
    const std::int64_t first = row * conv.x.result * channels;
    for (std::int64_t i = 0; i < conv.x.result * channels; ++i) {
        T sum = conv.row.bias ? conv.row.bias[i % channels] : T(0);
        for (std::int64_t j = 0; j < m; ++j)
            sum += from[i * m + j];
        if (conv.row.relu && sum < 0) sum = 0;
        if (conv.row.mask && !(conv.row.mask[first + i] > 0)) sum = 0;
        conv.row.dst[first + i] = sum;
    }
}

/// Lists the taps of class `first` (results first, first + x.down, ...) of row `oh`; returns how
/// many.
template <class T>
std::int64_t depthwise_taps(const DepthwiseConv<T>& conv, std::int64_t n, std::int64_t oh,
                            std::int64_t class_first, std::int64_t columns, DepthwiseTap<T>* taps) {
    const DepthwiseAxis& x = conv.x;
    const std::int64_t channels = conv.row.channels;
    std::int64_t count = 0;
    for (std::int64_t kh = 0; kh < conv.y.kernel; ++kh) {
        std::int64_t ih = 0;
        if (!conv.y.whole(oh, kh, ih) || ih < 0 || ih >= conv.y.source) continue;
        for (std::int64_t kw = 0; kw < x.kernel; ++kw) {
            std::int64_t iw = 0;
            if (!x.whole(class_first, kw, iw)) continue;
            // Result i of the class reads cell iw + i*up.
            const std::int64_t first = iw < 0 ? (-iw + x.up - 1) / x.up : 0;
            std::int64_t last = iw < x.source ? (x.source - 1 - iw) / x.up + 1 : 0;
            if (last > columns) last = columns;
            if (first >= last) continue;
            const std::int64_t source_row =
                conv.repeat > 1 && !conv.backward ? kh : n * conv.y.source + ih;
            taps[count++] = {(source_row * x.source + iw) * channels,
                             conv.weights + (kh * x.kernel + kw) * channels, first, last};
        }
    }
    return count;
}

template <class T>
void depthwise(const DepthwiseConv<T>& conv, const DepthwiseWorkspace& layout, Workspace workspace,
               double* statistics, ThreadTeam& team) {
    const std::int64_t rows = conv.batch * conv.y.result;
    const std::int64_t channels = conv.row.channels;
    const auto partial_of = [&](int member) {
        return reinterpret_cast<double*>(workspace.data() + layout.statistics +
                                         member * layout.statistics_per_thread);
    };
    team.run([&](int member) {
        DepthwiseRow<T> row = conv.row;
        auto* const taps =
            reinterpret_cast<DepthwiseTap<T>*>(workspace.data() + member * layout.taps_per_thread);
        DepthwiseTap<T>* const edge = taps + conv.y.kernel * conv.x.kernel;
        if (statistics) {
            row.partial = partial_of(member);
            for (std::int64_t i = 0; i < 2 * channels; ++i)
                row.partial[i] = 0;
        }
        row.streams = std::int64_t(sizeof(T)) * conv.batch * channels *
                          (conv.y.source * conv.x.source + conv.y.result * conv.x.result) >
                      kCachedBytes;
        row.source_step = conv.x.up * channels;
        row.result_step = conv.x.down * channels;
        T* const aside =
            reinterpret_cast<T*>(workspace.data() + layout.rows + member * layout.rows_per_thread);
        const bool repeats = conv.repeat > 1 && !conv.backward;
        const bool sums = conv.repeat > 1 && conv.backward;
        if (repeats) row.src = aside;
        if (sums) {
            row.dst = aside;
            row.bias = row.mask = nullptr;
            row.relu = false;
        }
        const std::int64_t end = rows * (member + 1) / team.size();
        for (std::int64_t i = rows * member / team.size(); i < end; ++i) {
            const std::int64_t n = i / conv.y.result, oh = i % conv.y.result;
            for (std::int64_t kh = 0; repeats && kh < conv.y.kernel; ++kh) {
                std::int64_t ih = 0;
                if (!conv.y.whole(oh, kh, ih) || ih < 0 || ih >= conv.y.source) continue;
                const std::int64_t wide = conv.x.source * channels;
                repeat_each(conv.row.src + (n * conv.y.source + ih) * (wide / conv.repeat),
                            wide / conv.repeat, conv.repeat, aside + kh * wide);
            }
            for (std::int64_t part = 0; part < conv.x.down && part < conv.x.result; ++part) {
                const std::int64_t columns = (conv.x.result - part - 1) / conv.x.down + 1;
                const std::int64_t count = depthwise_taps(conv, n, oh, part, columns, taps);
                row.result = ((sums ? 0 : i * conv.x.result) + part) * channels;
                depthwise_row(row, taps, count, edge, columns);
            }
            if (sums) sum_each(conv, aside, i);
            if (conv.epilogue) {
                const std::int64_t wide = conv.x.result * channels;
                rewrite(*conv.epilogue, conv.row.dst, i * wide, wide);
            }
        }
    });
    if (!statistics) return;
    total_statistics(statistics, channels, conv.row.bias, team.size(), partial_of);
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
