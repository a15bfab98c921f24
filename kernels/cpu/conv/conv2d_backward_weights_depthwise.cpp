/// conv2d_backward_weights with one channel a group; with several filters a channel, a row of the
/// source is copied first, with every number as often. For every row of results and every row of
/// the kernel, a tile of R neighbouring taps by V vectors of channels is summed in registers along
/// the row (of 3x3 kernels all taps, along the rows of a band) and then added to the thread's
/// weights; these are added in the order of the threads.
/// Bands of rows are summed some channels at a time, so that these stay in the first cache.
/// Error bound: cells * epsilon * sum of |products|. diff_bias is summed in double from row to row.

#include <cstdint>

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/conv/depthwise_band.hpp"
#include "kernels/cpu/gemm_tile.hpp"
#include "kernels/thread_team.hpp"
#include "kernels/workspace/depthwise.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

constexpr int kMostTaps = 4;

/// One row of results against one row of the source.
template <class T>
struct TapRow {
    const T* src = nullptr;
    const T* diff = nullptr;
    std::int64_t channels = 0;
    std::int64_t stride = 1;  ///< cells of the source from one result to the next
    /// By tap of the tile: the cell that result 0 reads, and the results whose cell is inside.
    std::int64_t offset[kMostTaps] = {}, first[kMostTaps] = {}, last[kMostTaps] = {};
    T* sums = nullptr;  ///< of the first tap; those of the next are `channels` further
    DepthwiseAhead* ahead = nullptr;  ///< null: nothing is asked for
};

template <class T, int L, int R, int V>
void tap_tile(const TapRow<T>& row, std::int64_t c) {
    Vector<T, L> sums[R][V] = {};
    const std::int64_t channels = row.channels;
    std::int64_t first = row.first[0], last = row.last[0];
    unroll<R>([&](auto r) DTNN_UNROLLED {
        first = row.first[r] > first ? row.first[r] : first;
        last = row.last[r] < last ? row.last[r] : last;
    });
    const auto single = [&](auto r, std::int64_t begin, std::int64_t end) DTNN_UNROLLED {
        for (std::int64_t i = begin; i < end; ++i) {
            const T* const from = row.src + (i * row.stride + row.offset[r]) * channels + c;
            unroll<V>([&](auto v) DTNN_UNROLLED {
                sums[r][v] +=
                    load<T, L>(from + v * L) * load<T, L>(row.diff + i * channels + c + v * L);
            });
        }
    };
    if (first >= last) {
        unroll<R>([&](auto r) DTNN_UNROLLED { single(r, row.first[r], row.last[r]); });
    } else {
        unroll<R>([&](auto r) DTNN_UNROLLED {
            single(r, row.first[r], first);
            single(r, last, row.last[r]);
        });
        std::int64_t at[R];
        unroll<R>([&](auto r) DTNN_UNROLLED { at[r] = row.offset[r] * channels; });
        const std::int64_t step = row.stride * channels;
        const T* diff = row.diff + first * channels + c;
        std::int64_t source = first * step + c;
        for (std::int64_t i = first; i < last; ++i, diff += channels, source += step) {
            Vector<T, L> d[V];
            unroll<V>([&](auto v) DTNN_UNROLLED { d[v] = load<T, L>(diff + v * L); });
            if constexpr (L == kLanes<T>) ask_ahead<1, V>(row.ahead);
            unroll<R>([&](auto r) DTNN_UNROLLED {
                unroll<V>([&](auto v) DTNN_UNROLLED {
                    sums[r][v] += load<T, L>(row.src + (source + at[r]) + v * L) * d[v];
                });
            });
        }
    }
    unroll<R>([&](auto r) DTNN_UNROLLED {
        unroll<V>([&](auto v) DTNN_UNROLLED {
            T* const to = row.sums + r * channels + c + v * L;
            store<T, L>(to, load<T, L>(to) + sums[r][v]);
        });
    });
}

/// Rows of results that follow each other, and the elements between what they read.
struct TapLines {
    std::int64_t count = 1, results = 0;
    std::int64_t src = 0, diff = 0;  ///< from one to the next
    /// Between rows of the source that follow each other in the kernel, and between their sums.
    std::int64_t row_step = 0, sums_step = 0;
};

/// K neighbouring taps of H neighbouring rows of the kernel, over lines of results all of whose
/// rows are inside the source: a number of the gradient is loaded once for all of them.
template <class T, int K, int H, int V>
void joined_taps(const TapRow<T>& row, const TapLines& lines, std::int64_t c) {
    constexpr int L = kLanes<T>;
    Vector<T, L> sums[H][K][V] = {};
    const std::int64_t channels = row.channels, step = row.stride * channels;
    const std::int64_t row_step = lines.row_step, results = lines.results;
    const T *line_src = row.src, *line_diff = row.diff;
    std::int64_t first = row.first[0], last = row.last[0];
    for (int k = 1; k < K; ++k) {
        if (row.first[k] > first) first = row.first[k];
        if (row.last[k] < last) last = row.last[k];
    }
    std::int64_t at[K];
    unroll<K>([&](auto k) DTNN_UNROLLED { at[k] = row.offset[k] * channels + c; });
    const auto add = [&](std::int64_t i, auto checked) DTNN_UNROLLED {
        ask_ahead<1, V>(row.ahead);
        Vector<T, L> d[V];
        const T* const diff = line_diff + i * channels + c;
        unroll<V>([&](auto v) DTNN_UNROLLED { d[v] = load<T, L>(diff + v * L); });
        const T* from = line_src + i * step;
        unroll<K>([&](auto k) DTNN_UNROLLED {
            if (checked && (i < row.first[k] || i >= row.last[k])) return;
            unroll<H>([&](auto h) DTNN_UNROLLED {
                unroll<V>([&](auto v) DTNN_UNROLLED {
                    sums[h][k][v] += load<T, L>(from + h * row_step + at[k] + v * L) * d[v];
                });
            });
        });
    };
    for (std::int64_t line = 0; line < lines.count; ++line) {
        std::int64_t i = 0;
        for (; i < first && i < results; ++i)
            add(i, std::true_type{});
        for (; i < last; ++i) {
            add(i, std::false_type{});
        }
        for (; i < results; ++i)
            add(i, std::true_type{});
        line_src += lines.src;
        line_diff += lines.diff;
    }
    unroll<H>([&](auto h) DTNN_UNROLLED {
        unroll<K>([&](auto k) DTNN_UNROLLED {
            unroll<V>([&](auto v) DTNN_UNROLLED {
                T* const to = row.sums + h * lines.sums_step + k * channels + c + v * L;
                store<T, L>(to, load<T, L>(to) + sums[h][k][v]);
            });
        });
    });
}

template <class T, int L, int V>
void tap_tile(const TapRow<T>& row, std::int64_t taps, std::int64_t c) {
    switch (taps) {
        case 1:
            return tap_tile<T, L, 1, V>(row, c);
        case 2:
            return tap_tile<T, L, 2, V>(row, c);
        case 3:
            return tap_tile<T, L, 3, V>(row, c);
        default:
            return tap_tile<T, L, kMostTaps, V>(row, c);
    }
}

/// Some rows of results: the sums of their taps.
template <class T>
struct TapBand {
    const Conv2dBackwardWeightsArguments<T>& a;
    T* weights = nullptr;
    const T* aside = nullptr;  ///< the rows of the source as wide as the filters; null: they are
    bool streams = false;      ///< source and gradient are larger than caches
    std::int64_t begin = 0, count = 0;
    DepthwiseAhead ahead{};

    /// Whether a row of results takes two or three rows of three taps at once.
    template <int L>
    bool joins(std::int64_t taps) const {
        return L == kLanes<T> && sizeof(T) == sizeof(float) && taps == 3 && !aside &&
               a.shape.kernel_width == 3 && a.shape.kernel_height == 3;
    }

    /// `lines` rows of results from row i on, with `rows` rows of the kernel from `kh` on, which
    /// are inside the source from its row `ih` on.
    template <int L, int V>
    void joined(TapRow<T>& row, std::int64_t i, std::int64_t lines, std::int64_t ih,
                std::int64_t kh, std::int64_t rows, std::int64_t c) {
        if constexpr (L == kLanes<T> && sizeof(T) == sizeof(float)) {
            const ConvShape& s = a.shape;
            const std::int64_t wide = s.width * s.channels, step = s.dilation_height * wide;
            row.src = a.src + (i / s.out_height * s.height + ih) * wide;
            row.sums = weights + kh * 3 * s.filters;
            row.ahead = streams ? &ahead : nullptr;
            TapLines follow;
            follow.count = lines;
            follow.results = s.out_width;
            follow.src = s.stride_height * wide;
            follow.diff = s.out_width * s.filters;
            follow.row_step = step;
            follow.sums_step = 3 * s.filters;
            if (rows == 3)
                joined_taps<T, 3, 3, V>(row, follow, c);
            else
                joined_taps<T, 3, 2, V>(row, follow, c);
        }
    }

    /// How many rows of results of the band, from row i on, follow each other in a sample with the
    /// whole kernel inside; row i has.
    std::int64_t inner_rows(std::int64_t i) const {
        const ConvShape& s = a.shape;
        const std::int64_t oh = i % s.out_height;
        const std::int64_t room = s.height - 1 + s.pad_top - 2 * s.dilation_height;
        const std::int64_t until = room / s.stride_height + 1;
        const std::int64_t rows = (until < s.out_height ? until : s.out_height) - oh;
        return rows < begin + count - i ? rows : begin + count - i;
    }

    /// V vectors from channel c on, taps [kw, kw + taps) of every row of the kernel.
    template <int L, int V>
    void columns(std::int64_t c, std::int64_t kw, std::int64_t taps) {
        const ConvShape& s = a.shape;
        TapRow<T> row;
        row.channels = s.filters;
        row.stride = s.stride_width;
        for (std::int64_t r = 0; r < taps; ++r) {
            const std::int64_t at = (kw + r) * s.dilation_width - s.pad_left;
            row.offset[r] = at;
            row.first[r] = at < 0 ? (-at + s.stride_width - 1) / s.stride_width : 0;
            row.last[r] = at < s.width ? (s.width - 1 - at) / s.stride_width + 1 : 0;
            if (row.last[r] > s.out_width) row.last[r] = s.out_width;
            if (row.first[r] > row.last[r]) row.first[r] = row.last[r];
        }
        for (std::int64_t i = begin; i < begin + count; ++i) {
            const std::int64_t n = i / s.out_height, oh = i % s.out_height;
            row.diff = a.diff_dst + i * s.out_width * s.filters;
            if (joins<L>(taps)) {
                const std::int64_t top = oh * s.stride_height - s.pad_top;
                std::int64_t from = 0, until = 3;
                while (from < until && top + from * s.dilation_height < 0)
                    ++from;
                while (from < until && top + (until - 1) * s.dilation_height >= s.height)
                    --until;
                if (until - from >= 2) {
                    // Rows with the whole kernel inside are summed as one.
                    const std::int64_t lines = until - from == 3 ? inner_rows(i) : 1;
                    joined<L, V>(row, i, lines, top + from * s.dilation_height, from, until - from,
                                 c);
                    i += lines - 1;
                    continue;
                }
            }
            for (std::int64_t kh = 0; kh < s.kernel_height; ++kh) {
                const std::int64_t ih = oh * s.stride_height - s.pad_top + kh * s.dilation_height;
                if (ih < 0 || ih >= s.height) continue;
                row.src = aside ? aside + kh * s.width * s.filters
                                : a.src + (n * s.height + ih) * s.width * s.channels;
                row.sums = weights + (kh * s.kernel_width + kw) * s.filters;
                // Once for a row of results.
                row.ahead = streams && kw == 0 && kh + 1 == s.kernel_height ? &ahead : nullptr;
                tap_tile<T, L, V>(row, taps, c);
            }
        }
    }

    template <int L, int V>
    void block(std::int64_t c) {
        for (std::int64_t kw = 0; kw < a.shape.kernel_width;) {
            // 5 taps as 3 and 2: one alone would wait for its own sum.
            const std::int64_t left = a.shape.kernel_width - kw;
            const std::int64_t taps = left == 5 ? 3 : (left < kMostTaps ? left : kMostTaps);
            columns<L, V>(c, kw, taps);
            kw += taps;
        }
    }

    /// Asks for the rows that the next band reads first, and for their gradient.
    void look_ahead() {
        const ConvShape& s = a.shape;
        const std::int64_t last = begin + count - 1;
        std::int64_t below = last % s.out_height * s.stride_height - s.pad_top +
                             (s.kernel_height - 1) * s.dilation_height + 1;
        if (below > s.height) below = s.height;
        const T* const src =
            a.src + (last / s.out_height * s.height + below) * s.width * s.channels;
        const T* const diff = a.diff_dst + (last + 1) * s.out_width * s.filters;
        ahead.source = ahead.source_until = reinterpret_cast<const char*>(src);
        ahead.results = ahead.results_until = reinterpret_cast<const char*>(diff);
        ahead.step = kVectorBytes * s.stride_height * s.width / s.out_width;
    }

    void all() {
        if (streams) look_ahead();
        for_channel_blocks<T>(a.shape.filters, [&](auto lanes, auto vectors, std::int64_t c) {
            block<lanes, vectors>(c);
        });
    }
};

/// to[kh][i*m + j] = the number i of the row of the source that row kh of the kernel reads, m
/// filters a channel.
template <class T>
void repeat_rows(const Conv2dBackwardWeightsArguments<T>& a, std::int64_t n, std::int64_t oh,
                 T* to) {
    const ConvShape& s = a.shape;
    const std::int64_t m = s.group_filters(), wide = s.width * s.channels;
    for (std::int64_t kh = 0; kh < s.kernel_height; ++kh) {
        const std::int64_t ih = oh * s.stride_height - s.pad_top + kh * s.dilation_height;
        if (ih < 0 || ih >= s.height) continue;
        const T* const from = a.src + (n * s.height + ih) * wide;
        for (std::int64_t i = 0; i < wide; ++i) {
            for (std::int64_t j = 0; j < m; ++j)
                to[(kh * wide + i) * m + j] = from[i];
        }
    }
}

template <class T>
void add_bias(const T* diff, std::int64_t columns, std::int64_t channels, double* bias) {
    for_channels<T>(channels, [&](auto lanes, std::int64_t c) {
        using V = decltype(lanes);
        auto sum = V::zero();
        for (std::int64_t i = 0; i < columns; ++i)
            sum += V::load(diff + i * channels + c);
        for (int lane = 0; lane < V::kLanes; ++lane)
            bias[c + lane] += double(sum[lane]);
    });
}

}  // namespace

DTNN_KERNEL(conv2d_backward_weights_depthwise, Conv2dBackwardWeightsArguments) {
    const ConvShape& s = a.shape;
    const DepthwiseOuterWorkspace layout(s, sizeof(T), team.size());
    const std::int64_t rows = s.batch * s.out_height, elements = s.weight_elements();
    const std::int64_t size =
        depthwise_band_rows<T>(s.filters, s.group_filters(), s.kernel_height,
                               s.stride_height * s.width, s.width, s.out_width, s.out_height);
    const bool streams = std::int64_t(sizeof(T)) * s.batch * s.filters *
                             (s.height * s.width + s.out_height * s.out_width) >
                         kCachedBytes;
    const auto own = [&](int member) {
        return a.workspace.data() + member * layout.bytes_per_thread;
    };
    team.run([&](int member) {
        auto* const bias = reinterpret_cast<double*>(own(member));
        T* const weights = reinterpret_cast<T*>(own(member) + layout.weights);
        for (std::int64_t i = 0; i < s.filters; ++i)
            bias[i] = 0;
        for (std::int64_t i = 0; i < elements; ++i)
            weights[i] = 0;
        const bool repeats = s.group_filters() > 1;
        T* const aside = reinterpret_cast<T*>(own(member) + layout.row);
        TapBand<T> band{a, weights, repeats ? aside : nullptr, streams && !repeats};
        const std::int64_t end = rows * (member + 1) / team.size();
        for (std::int64_t i = rows * member / team.size(); i < end; i += band.count) {
            band.begin = i;
            band.count = end - i < size ? end - i : size;
            if (repeats) repeat_rows(a, i / s.out_height, i % s.out_height, aside);
            band.all();
            for (std::int64_t j = i; j < i + band.count && a.diff_bias; ++j)
                add_bias(a.diff_dst + j * s.out_width * s.filters, s.out_width, s.filters, bias);
        }
    });
    for (std::int64_t i = 0; i < elements; ++i) {
        T sum = 0;
        for (int member = 0; member < team.size(); ++member)
            sum += reinterpret_cast<const T*>(own(member) + layout.weights)[i];
        a.diff_weights[i] = sum;
    }
    if (!a.diff_bias) return;
    for (std::int64_t c = 0; c < s.filters; ++c) {
        double sum = 0;
        for (int member = 0; member < team.size(); ++member)
            sum += reinterpret_cast<const double*>(own(member))[c];
        a.diff_bias[c] = static_cast<T>(sum);
    }
}

}  // namespace dtnn::kernels::DTNN_ISA
