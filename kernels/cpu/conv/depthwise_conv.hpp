#pragma once
/// Convolutions with one channel a group, forward and backward to the data: element by element
/// along the channels, so a tile is R results of one row by V vectors of channels, kept in
/// registers while all taps pass. Bands of rows are computed some channels at a time, so that these
/// stay in the first cache. Every element is summed over its taps in the order of the cells that
/// they read: error bound taps * epsilon * sum of |products|, the same bits for any number of
/// threads.
///
/// Backward, the results (cells of diff_src) of a row fall into as many classes as the stride is
/// wide: cells of a class are reached by the same taps, from neighbouring cells of diff_dst. Tiles
/// are of one class, or, for the kernels of 3 and 5 columns of stride 2, of both.
///
/// With m filters a channel everything is as wide as the filters: forward, the rows of the source
/// that a row of results reads are copied with every number m times; backward, a row of results is
/// computed aside, and each m of them are summed.

#include <cstdint>

#include "kernels/cpu/conv/conv_statistics.hpp"
#include "kernels/cpu/conv/depthwise_band.hpp"
#include "kernels/cpu/conv/depthwise_tiles.hpp"
#include "kernels/cpu/expression_chunk.hpp"
#include "kernels/thread_team.hpp"
#include "kernels/workspace/depthwise.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

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
    std::int64_t batch = 0;
    std::int64_t repeat = 1;  ///< filters a channel
    bool backward = false;
    const ElementwiseArguments<T>* epilogue = nullptr;  ///< over dst, in the end; null: none

    /// Whether rows of the source are copied first, or rows of results are summed in the end.
    bool repeats() const { return repeat > 1 && !backward; }
    bool sums() const { return repeat > 1 && backward; }
    /// The classes of the results of a row, and how many results one has.
    std::int64_t parts() const { return x.down < x.result ? x.down : x.result; }
    std::int64_t results_of(std::int64_t part) const { return (x.result - part - 1) / x.down + 1; }
    /// The rows that are computed some channels at a time: backward as many of each class.
    std::int64_t band_rows() const {
        const std::int64_t most = DepthwiseWorkspace::kBandRows;
        const std::int64_t rows = depthwise_band_rows<T>(
            row.channels, repeat, y.kernel, y.up * x.source / y.down, x.source, x.result, most);
        if (y.down == 1) return rows;
        if (repeat > 1 || y.down > most) return 1;
        return rows < y.down ? y.down : rows / y.down * y.down;
    }
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

/// Lists the columns of the kernel that the classes of a row's results are reached by, class by
/// class; every column reaches one. Returns how many.
template <class T>
std::int64_t list_columns(const DepthwiseConv<T>& conv, ColumnTap* taps) {
    const DepthwiseAxis& x = conv.x;
    const std::int64_t channels = conv.row.channels;
    std::int64_t count = 0;
    for (std::int64_t part = 0; part < conv.parts(); ++part) {
        const std::int64_t results = conv.results_of(part);
        for (std::int64_t i = 0; i < x.kernel; ++i) {
            const std::int64_t kw = x.dilation < 0 ? x.kernel - 1 - i : i;
            std::int64_t iw = 0;
            if (!x.whole(part, kw, iw)) continue;
            // Result i of the class reads cell iw + i*up.
            const std::int64_t first = iw < 0 ? (-iw + x.up - 1) / x.up : 0;
            std::int64_t last = iw < x.source ? (x.source - 1 - iw) / x.up + 1 : 0;
            if (last > results) last = results;
            if (first >= last) continue;
            taps[count++] = {iw * channels, kw * channels, std::int32_t(first), std::int32_t(last),
                             std::int32_t(part)};
        }
    }
    return count;
}

/// Lists the rows of the kernel that reach row `oh` of sample n, from the topmost row of the source
/// down; returns how many.
template <class T>
std::int64_t list_rows(const DepthwiseConv<T>& conv, std::int64_t n, std::int64_t oh,
                       RowTap* taps) {
    const std::int64_t channels = conv.row.channels;
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < conv.y.kernel; ++i) {
        const std::int64_t kh = conv.y.dilation < 0 ? conv.y.kernel - 1 - i : i;
        std::int64_t ih = 0;
        if (!conv.y.whole(oh, kh, ih) || ih < 0 || ih >= conv.y.source) continue;
        const std::int64_t row = conv.repeats() ? kh : n * conv.y.source + ih;
        taps[count++] = {row * conv.x.source * channels, kh * conv.x.kernel * channels};
    }
    return count;
}

/// The results of some rows, `count` from row `begin` of all samples on.
template <class T>
struct DepthwiseBand {
    const DepthwiseConv<T>& conv;
    DepthwiseRow<T> row;
    const ColumnTap* columns;
    std::int64_t column_count;
    const RowTap* taps;  ///< [rows, kernel height]
    std::int64_t begin = 0, count = 0;
    DepthwiseAhead ahead{};
    std::int64_t tap_counts[DepthwiseWorkspace::kBandRows] = {};

    /// V vectors from channel c on.
    template <int L, int V>
    void block(std::int64_t c) {
        if constexpr (L == kLanes<T>) {
            const DepthwiseAxis& x = conv.x;
            const bool halves = x.down == 2 && x.dilation == -1;
            const SlidingRow<T> spread =
                halves ? spreading_row_of<T, V>(x.kernel, x.offset) : nullptr;
            if (spread) {
                row.result_step = row.channels;
                row.first_cell = x.offset / 2;
                return each_row(0, [&] { spread(row, x.result, c); });
            }
        }
        row.result_step = conv.x.down * row.channels;
        std::int64_t listed = 0;
        for (std::int64_t part = 0; part < conv.parts(); ++part) {
            const std::int64_t results = conv.results_of(part);
            row.columns = columns + listed;
            row.column_count = 0;
            for (; listed < column_count && columns[listed].part == part; ++listed)
                ++row.column_count;
            if (row.column_count > 0) row.first_cell = row.columns[0].source / row.channels;
            SlidingRow<T> slide = nullptr;
            if constexpr (L == kLanes<T>) slide = sliding_row_of<T, V>(row);
            each_row(part, [&] {
                if (slide)
                    slide(row, results, c);
                else
                    depthwise_row<T, L, V>(row, results, c);
            });
        }
    }

    /// body() for every row of the band, whose first result of a class is `part`.
    template <class Body>
    DTNN_INLINE void each_row(std::int64_t part, Body&& body) {
        for (std::int64_t i = 0; i < count; ++i) {
            row.rows = taps + i * conv.y.kernel;
            row.row_count = tap_counts[i];
            const std::int64_t first = conv.sums() ? 0 : (begin + i) * conv.x.result;
            row.result = (first + part) * row.channels;
            body();
        }
    }

    /// Asks for the memory behind the last row that the band reads, and behind its results.
    void look_ahead() {
        const std::int64_t last = count - 1;
        if (tap_counts[last] == 0) return;
        const RowTap* const lowest = taps + last * conv.y.kernel + tap_counts[last] - 1;
        const T* const source = row.src + lowest->source + row.source_cells * row.channels;
        const T* const results = row.dst + (begin + count) * conv.x.result * row.channels;
        ahead.source = ahead.source_until = reinterpret_cast<const char*>(source);
        ahead.results = ahead.results_until = reinterpret_cast<const char*>(results);
        row.ahead = &ahead;
    }

    void all() {
        for_channel_blocks<T>(row.channels, [&](auto lanes, auto vectors, std::int64_t c) {
            block<lanes, vectors>(c);
        });
    }
};

template <class T>
void depthwise(const DepthwiseConv<T>& conv, const DepthwiseWorkspace& layout, Workspace workspace,
               double* statistics, ThreadTeam& team) {
    const std::int64_t rows = conv.batch * conv.y.result;
    const std::int64_t channels = conv.row.channels, wide = conv.x.source * channels;
    const auto partial_of = [&](int member) {
        return reinterpret_cast<double*>(workspace.data() + layout.statistics +
                                         member * layout.statistics_per_thread);
    };
    const std::int64_t band_size = conv.band_rows();
    const bool streams = std::int64_t(sizeof(T)) * conv.batch *
                             (conv.y.source * wide + conv.y.result * conv.x.result * channels) >
                         kCachedBytes;
    team.run([&](int member) {
        auto* const columns =
            reinterpret_cast<ColumnTap*>(workspace.data() + member * layout.taps_per_thread);
        auto* const taps = reinterpret_cast<RowTap*>(columns + conv.x.kernel);
        DepthwiseBand<T> band{conv, conv.row, columns, list_columns(conv, columns), taps};
        DepthwiseRow<T>& row = band.row;
        if (statistics) {
            row.partial = partial_of(member);
            for (std::int64_t i = 0; i < 2 * channels; ++i)
                row.partial[i] = 0;
        }
        row.source_cells = conv.x.source;
        row.source_step = conv.x.up * channels;
        band.ahead.step = kVectorBytes * conv.y.up * conv.x.source / (conv.y.down * conv.x.result);
        T* const aside =
            reinterpret_cast<T*>(workspace.data() + layout.rows + member * layout.rows_per_thread);
        if (conv.repeats()) row.src = aside;
        if (conv.sums()) {
            row.dst = aside;
            row.bias = row.mask = nullptr;
            row.relu = false;
        }
        const std::int64_t end = rows * (member + 1) / team.size();
        for (std::int64_t i = rows * member / team.size(); i < end; i += band.count) {
            band.begin = i;
            band.count = end - i < band_size ? end - i : band_size;
            for (std::int64_t j = 0; j < band.count; ++j) {
                const std::int64_t n = (i + j) / conv.y.result, oh = (i + j) % conv.y.result;
                for (std::int64_t kh = 0; conv.repeats() && kh < conv.y.kernel; ++kh) {
                    std::int64_t ih = 0;
                    if (!conv.y.whole(oh, kh, ih) || ih < 0 || ih >= conv.y.source) continue;
                    repeat_each(conv.row.src + (n * conv.y.source + ih) * (wide / conv.repeat),
                                wide / conv.repeat, conv.repeat, aside + kh * wide);
                }
                band.tap_counts[j] = list_rows(conv, n, oh, taps + j * conv.y.kernel);
            }
            if (streams && conv.repeat == 1) band.look_ahead();
            band.all();
            if (conv.sums()) sum_each(conv, aside, i);
            if (conv.epilogue) {
                const std::int64_t results = conv.x.result * channels;
                rewrite(*conv.epilogue, conv.row.dst, i * results, band.count * results);
            }
        }
    });
    if (!statistics) return;
    total_statistics(statistics, channels, conv.row.bias, team.size(), partial_of);
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
