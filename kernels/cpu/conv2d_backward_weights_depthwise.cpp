/// conv2d_backward_weights with one channel a group; with several filters a channel, a row of the
/// source is copied first, with every number as often. For every row of results and every row of
/// the kernel, a tile of R neighbouring taps by V vectors of channels is summed in registers along
/// the row and then added to the thread's weights; these are added in the order of the threads.
/// Error bound: cells * epsilon * sum of |products|. diff_bias is summed in double from row to row.

#include <cstdint>

#include "kernels/arguments/conv2d.hpp"
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
    /// Elements from a cell to the one that the next row of results reads first; 0: not asked for.
    std::int64_t next_src = 0, next_diff = 0;
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
            if (row.next_diff != 0) {
                unroll<V>([&](auto v) DTNN_UNROLLED {
                    __builtin_prefetch(diff + row.next_diff + v * L);
                    __builtin_prefetch(row.src + (source + at[R - 1]) + row.next_src + v * L);
                });
            }
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

template <class T, int L, int R>
void tap_rest(const TapRow<T>& row, std::int64_t c) {
    if constexpr (L >= 1) {
        if (c + L <= row.channels) {
            tap_tile<T, L, R, 1>(row, c);
            c += L;
        }
        tap_rest<T, L / 2, R>(row, c);
    }
}

template <class T, int R>
void tap_channels(const TapRow<T>& row) {
    constexpr int L = kLanes<T>;
    std::int64_t c = 0;
    for (; c + 2 * L <= row.channels; c += 2 * L)
        tap_tile<T, L, R, 2>(row, c);
    if (c + L <= row.channels) {
        tap_tile<T, L, R, 1>(row, c);
        c += L;
    }
    tap_rest<T, L / 2, R>(row, c);
}

template <class T>
void tap_channels(const TapRow<T>& row, std::int64_t taps) {
    switch (taps) {
        case 1:
            return tap_channels<T, 1>(row);
        case 2:
            return tap_channels<T, 2>(row);
        case 3:
            return tap_channels<T, 3>(row);
        default:
            return tap_channels<T, kMostTaps>(row);
    }
}

/// Row `oh` of sample n, every tap. `aside` has room for a row of the source as wide as the
/// filters.
template <class T>
void add_row(const Conv2dBackwardWeightsArguments<T>& a, std::int64_t n, std::int64_t oh,
             T* weights, T* aside) {
    const ConvShape& s = a.shape;
    TapRow<T> row;
    row.channels = s.filters;
    row.stride = s.stride_width;
    row.diff = a.diff_dst + (n * s.out_height + oh) * s.out_width * s.filters;
    // The kernel's last row reads what none has read before; that of the next row of results is
    // `ahead` rows further.
    const bool streams =
        s.group_filters() == 1 && std::int64_t(sizeof(T)) * s.batch * s.filters *
                                          (s.height * s.width + s.out_height * s.out_width) >
                                      kCachedBytes;
    const std::int64_t asking = s.kernel_height - 1, ahead = s.stride_height;
    for (std::int64_t kh = 0; kh < s.kernel_height; ++kh) {
        const std::int64_t ih = oh * s.stride_height - s.pad_top + kh * s.dilation_height;
        if (ih < 0 || ih >= s.height) continue;
        row.src = a.src + (n * s.height + ih) * s.width * s.channels;
        if (const std::int64_t m = s.group_filters(); m > 1) {
            for (std::int64_t i = 0; i < s.width * s.channels; ++i) {
                for (std::int64_t j = 0; j < m; ++j)
                    aside[i * m + j] = row.src[i];
            }
            row.src = aside;
        }
        for (std::int64_t kw = 0; kw < s.kernel_width;) {
            // 5 taps as 3 and 2: one alone would wait for its own sum.
            const std::int64_t left = s.kernel_width - kw;
            const std::int64_t taps = left == 5 ? 3 : (left < kMostTaps ? left : kMostTaps);
            for (std::int64_t r = 0; r < taps; ++r) {
                const std::int64_t at = (kw + r) * s.dilation_width - s.pad_left;
                row.offset[r] = at;
                row.first[r] = at < 0 ? (-at + s.stride_width - 1) / s.stride_width : 0;
                row.last[r] = at < s.width ? (s.width - 1 - at) / s.stride_width + 1 : 0;
                if (row.last[r] > s.out_width) row.last[r] = s.out_width;
                if (row.first[r] > row.last[r]) row.first[r] = row.last[r];
            }
            row.sums = weights + (kh * s.kernel_width + kw) * s.filters;
            const bool asks = streams && kh == asking && kw == 0;
            row.next_diff = asks ? s.out_width * s.filters : 0;
            row.next_src = asks ? ahead * s.width * s.channels : 0;
            tap_channels(row, taps);
            kw += taps;
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

template <class T>
void conv2d_backward_weights_depthwise(const Conv2dBackwardWeightsArguments<T>& a,
                                       ThreadTeam& team) {
    const ConvShape& s = a.shape;
    const DepthwiseOuterWorkspace layout(s, sizeof(T), team.size());
    const std::int64_t rows = s.batch * s.out_height, elements = s.weight_elements();
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
        const std::int64_t end = rows * (member + 1) / team.size();
        for (std::int64_t i = rows * member / team.size(); i < end; ++i) {
            add_row(a, i / s.out_height, i % s.out_height, weights,
                    reinterpret_cast<T*>(own(member) + layout.row));
            if (a.diff_bias) {
                add_bias(a.diff_dst + i * s.out_width * s.filters, s.out_width, s.filters, bias);
            }
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

DTNN_KERNEL(conv2d_backward_weights_depthwise, Conv2dBackwardWeightsArguments)

}  // namespace dtnn::kernels::DTNN_ISA
