#pragma once
/// Convolution backward to the weights as sums of outer products: diff_weights[tap, c, f] += src
/// row (c) times diff_dst row (f) over the output cells whose tap is inside the image. Cells are
/// taken in blocks whose rows stay in the caches; per block and tap the inside cells are listed
/// once as pairs of pointers, then each register tile of 8 channels by two vectors of filters
/// passes over the list.
///
/// Many taps and channels: the threads divide them, every element is summed in the order of the
/// cells and results do not depend on the number of threads. Few: the threads divide the cells, and
/// the partial sums are added in the order of the threads. Error bound: cells * epsilon * sum of
/// |products|. diff_bias is summed in double.

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/gemm_tile.hpp"
#include "kernels/thread_team.hpp"
#include "kernels/workspace/conv.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

inline constexpr int kOuterRows = kTileRows;

template <class T>
struct OuterPass {
    const T* const* pairs = nullptr;
    std::int64_t count = 0;
    T* weights = nullptr;      ///< of the tap: [channels, filters]
    std::int64_t filters = 0;  ///< elements between rows of weights
    bool first = false;        ///< whether to overwrite
};

/// One register tile: channels [c, c+R), filters [f, f+V*L) or only `columns` of them.
template <class T, int L, int R, int V>
void outer_tile(const OuterPass<T>& pass, std::int64_t c, std::int64_t weight_column,
                std::int64_t c_offset, std::int64_t f_offset, std::int64_t columns) {
    Vector<T, L> sums[R][V] = {};
    T* weights = pass.weights + c * pass.filters + weight_column;
    if (columns == V * L) {
        multiply_pairs<T, L, R, V>(sums, pass.pairs, pass.count, c_offset + c, f_offset);
        unroll<R>([&](auto r) DTNN_UNROLLED {
            unroll<V>([&](auto v) DTNN_UNROLLED {
                T* at = weights + r * pass.filters + v * L;
                store<T, L>(at, pass.first ? sums[r][v] : sums[r][v] + load<T, L>(at));
            });
        });
        return;
    }
    for (std::int64_t i = 0; i < pass.count; ++i) {
        const T* a = pass.pairs[2 * i] + c_offset + c;
        const T* b = pass.pairs[2 * i + 1] + f_offset;
        T padded[V * L] = {};
        for (std::int64_t j = 0; j < columns; ++j)
            padded[j] = b[j];
        unroll<V>([&](auto v) DTNN_UNROLLED {
            const Vector<T, L> value = load<T, L>(padded + v * L);
            unroll<R>([&](auto r) DTNN_UNROLLED { sums[r][v] += broadcast<T, L>(a[r]) * value; });
        });
    }
    T values[R][V * L];
    unroll<R>([&](auto r) DTNN_UNROLLED {
        unroll<V>([&](auto v) DTNN_UNROLLED { store<T, L>(&values[r][v * L], sums[r][v]); });
        for (std::int64_t j = 0; j < columns; ++j) {
            T& at = weights[r * pass.filters + j];
            at = pass.first ? values[r][j] : at + values[r][j];
        }
    });
}

/// Filters [begin, end) of channels [c, c+R): full tiles, then narrower ones.
template <class T, int R>
void outer_filters(const OuterPass<T>& pass, std::int64_t c, std::int64_t group_filters,
                   std::int64_t group, std::int64_t c_offset) {
    constexpr int L = kLanes<T>;
    constexpr int H = L > 4 ? L / 2 : L;
    std::int64_t f = 0;
    const std::int64_t base = group * group_filters;
    for (; f + 2 * L <= group_filters; f += 2 * L) {
        outer_tile<T, L, R, 2>(pass, c, base + f, c_offset, base + f, 2 * L);
    }
    for (; f + L <= group_filters; f += L) {
        outer_tile<T, L, R, 1>(pass, c, base + f, c_offset, base + f, L);
    }
    for (; f < group_filters; f += H) {
        const std::int64_t left = group_filters - f;
        outer_tile<T, H, R, 1>(pass, c, base + f, c_offset, base + f, left < H ? left : H);
    }
}

template <class T>
void outer_channels(const OuterPass<T>& pass, std::int64_t c, std::int64_t rows,
                    std::int64_t group_filters, std::int64_t group, std::int64_t c_offset) {
    static_assert(kOuterRows == 8 || kOuterRows == 6);
    if (rows == kOuterRows) {
        return outer_filters<T, kOuterRows>(pass, c, group_filters, group, c_offset);
    }
    for (; rows >= 4; rows -= 4, c += 4) {
        outer_filters<T, 4>(pass, c, group_filters, group, c_offset);
    }
    if (rows == 3) return outer_filters<T, 3>(pass, c, group_filters, group, c_offset);
    if (rows == 2) return outer_filters<T, 2>(pass, c, group_filters, group, c_offset);
    if (rows == 1) return outer_filters<T, 1>(pass, c, group_filters, group, c_offset);
}

/// Lists the pairs (src row, diff_dst row) of output cells [begin, end) for tap (kh, kw); returns
/// how many.
template <class T>
std::int64_t list_pairs(const Conv2dBackwardWeightsArguments<T>& a, std::int64_t begin,
                        std::int64_t end, std::int64_t kh, std::int64_t kw, const T** pairs) {
    const ConvShape& s = a.shape;
    std::int64_t count = 0;
    std::int64_t line = begin / s.out_width;
    std::int64_t ow = begin % s.out_width;
    const std::int64_t from_w = kw * s.dilation_width - s.pad_left;
    for (std::int64_t cell = begin; cell < end; ++line, ow = 0) {
        const std::int64_t n = line / s.out_height;
        const std::int64_t oh = line % s.out_height;
        const std::int64_t stop = ow + end - cell < s.out_width ? ow + end - cell : s.out_width;
        const std::int64_t ih = oh * s.stride_height - s.pad_top + kh * s.dilation_height;
        if (ih >= 0 && ih < s.height) {
            const T* src = a.src + (n * s.height + ih) * s.width * s.channels;
            const T* diff = a.diff_dst + line * s.out_width * s.filters;
            for (std::int64_t w = ow; w < stop; ++w) {
                const std::int64_t iw = w * s.stride_width + from_w;
                if (iw < 0 || iw >= s.width) continue;
                pairs[2 * count] = src + iw * s.channels;
                pairs[2 * count + 1] = diff + w * s.filters;
                ++count;
            }
        }
        cell += stop - ow;
    }
    return count;
}

/// Adds items [item_begin, item_end) of (tap, group, block of channels) over output cells [begin,
/// end) to `weights`.
template <class T>
void outer_block(const Conv2dBackwardWeightsArguments<T>& a, std::int64_t begin, std::int64_t end,
                 std::int64_t item_begin, std::int64_t item_end, const T** pairs, T* weights,
                 bool first) {
    const ConvShape& s = a.shape;
    const std::int64_t channels = s.group_channels();
    const std::int64_t blocks = (channels + kOuterRows - 1) / kOuterRows;
    const std::int64_t per_tap = s.groups * blocks;
    OuterPass<T> pass;
    pass.pairs = pairs;
    pass.filters = s.filters;
    pass.first = first;
    std::int64_t listed = -1;
    for (std::int64_t item = item_begin; item < item_end; ++item) {
        const std::int64_t tap = item / per_tap;
        if (tap != listed) {
            pass.count =
                list_pairs(a, begin, end, tap / s.kernel_width, tap % s.kernel_width, pairs);
            listed = tap;
        }
        pass.weights = weights + tap * channels * s.filters;
        const std::int64_t group = item % per_tap / blocks;
        const std::int64_t c = item % blocks * kOuterRows;
        const std::int64_t left = channels - c;
        outer_channels(pass, c, left < kOuterRows ? left : kOuterRows, s.group_filters(), group,
                       group * channels);
    }
}

template <class T>
void sum_columns(const T* rows, std::int64_t count, std::int64_t width, double* sums) {
    constexpr int D = kLanes<double>;
    std::int64_t j = 0;
    for (; j + 4 * D <= width; j += 4 * D) {
        Vector<double, D> s[4];
        unroll<4>([&](auto v) DTNN_UNROLLED { s[v] = load<double, D>(sums + j + v * D); });
        for (std::int64_t i = 0; i < count; ++i) {
            unroll<4>([&](auto v) DTNN_UNROLLED {
                s[v] += __builtin_convertvector((load<T, D>(rows + i * width + j + v * D)),
                                                Vector<double, D>);
            });
        }
        unroll<4>([&](auto v) DTNN_UNROLLED { store<double, D>(sums + j + v * D, s[v]); });
    }
    for (; j + D <= width; j += D) {
        Vector<double, D> s = load<double, D>(sums + j);
        for (std::int64_t i = 0; i < count; ++i) {
            s += __builtin_convertvector((load<T, D>(rows + i * width + j)), Vector<double, D>);
        }
        store<double, D>(sums + j, s);
    }
    for (; j < width; ++j) {
        for (std::int64_t i = 0; i < count; ++i)
            sums[j] += rows[i * width + j];
    }
}

template <class T>
void outer_backward_weights(const Conv2dBackwardWeightsArguments<T>& a, ThreadTeam& team) {
    const ConvShape& s = a.shape;
    const OuterWorkspace layout(s, sizeof(T), team.size());
    const std::int64_t cells = s.out_pixels();
    const std::int64_t items =
        s.taps() * s.groups * ((s.group_channels() + kOuterRows - 1) / kOuterRows);
    const std::int64_t threads = team.size();
    const auto partial = [&](std::int64_t member) {
        return threads == 1 || !layout.divide_rows
                   ? a.diff_weights
                   : reinterpret_cast<T*>(a.workspace.data() + layout.partials +
                                          member * layout.partials_per_thread);
    };
    const auto bias = [&](std::int64_t member) {
        return reinterpret_cast<double*>(a.workspace.data() + layout.bias +
                                         member * layout.bias_per_thread);
    };
    team.run([&](int member) {
        auto* pairs =
            reinterpret_cast<const T**>(a.workspace.data() + member * layout.pairs_per_thread);
        const std::int64_t begin = cells * member / threads;
        const std::int64_t end = cells * (member + 1) / threads;
        if (a.diff_bias) {
            double* sums = bias(member);
            for (std::int64_t f = 0; f < s.filters; ++f)
                sums[f] = 0;
        }
        const std::int64_t from = layout.divide_rows ? begin : 0;
        const std::int64_t to = layout.divide_rows ? end : cells;
        const std::int64_t item_begin = layout.divide_rows ? 0 : items * member / threads;
        const std::int64_t item_end = layout.divide_rows ? items : items * (member + 1) / threads;
        bool first = true;
        for (std::int64_t at = from; at < to || first; at += OuterWorkspace::kBlockRows) {
            const std::int64_t stop =
                at + OuterWorkspace::kBlockRows < to ? at + OuterWorkspace::kBlockRows : to;
            outer_block(a, at, stop, item_begin, item_end, pairs, partial(member), first);
            first = false;
        }
        if (a.diff_bias) {
            sum_columns(a.diff_dst + begin * s.filters, end - begin, s.filters, bias(member));
        }
    });
    if (threads > 1 && layout.divide_rows) {
        team.for_ranges(s.weight_elements(), 256, [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t i = begin; i < end; ++i) {
                T sum = partial(0)[i];
                for (std::int64_t member = 1; member < threads; ++member)
                    sum += partial(member)[i];
                a.diff_weights[i] = sum;
            }
        });
    }
    if (!a.diff_bias) return;
    for (std::int64_t f = 0; f < s.filters; ++f) {
        double sum = 0;
        for (std::int64_t member = 0; member < threads; ++member)
            sum += bias(member)[f];
        a.diff_bias[f] = static_cast<T>(sum);
    }
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
