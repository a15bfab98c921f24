#pragma once
/// The gradient of 3x3 filters, stride 1, by Winograd's algorithm. A block of tiles at a time is
/// transformed, the source's and diff_dst's, and multiplied as one outer product per point, summed
/// over the tiles; the sums become filters in the end. The filters are divided into items of kRows
/// channels by N filters. Bits do not depend on the threads.
/// Formula: Conv2dBackwardWeightsArguments'; error bound: winograd.hpp.

#include "kernels/cpu/winograd_conv.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

template <class T>
struct WinogradOuter {
    GatherConv<T> forward;  ///< src, and where its tiles begin
    WinogradShape shape;
    WinogradOuterWorkspace layout;
    const T* diff_dst = nullptr;
    T* diff_weights = nullptr;
    T* diff_bias = nullptr;
    std::byte* workspace = nullptr;

    T* at(std::int64_t offset) const { return reinterpret_cast<T*>(workspace + offset); }
    double* bias_of(int member) const {
        return reinterpret_cast<double*>(workspace + layout.bias + member * layout.bias_per_thread);
    }
};

/// Where channel d of tile t, counted from `first`, lies in panels of kWidth columns:
/// [panel][tile of the block][kWidth].
template <int kWidth>
struct PanelPlaces {
    std::int64_t first, block;
    std::int64_t operator()(std::int64_t t, std::int64_t d) const {
        return (d / kWidth * block + first + t) * kWidth + d % kWidth;
    }
};

/// A dy A^T of tiles [begin, end) of the block that begins with tile `first`, in panels of N.
template <class T, int M, int N>
void transform_gradient(const WinogradOuter<T>& c, std::int64_t first, std::int64_t begin,
                        std::int64_t end, double* bias) {
    constexpr int P = Winograd<M>::kPoints;
    const std::int64_t plane = c.layout.gradient_plane, filters = c.shape.width;
    T* to = c.at(c.layout.gradient);
    for (std::int64_t t = begin; t < end; ++t) {
        const TilePlace place(c.shape, first + t);
        const T* cells[M * M];
        for (int y = 0; y < M; ++y) {
            for (int x = 0; x < M; ++x) {
                const std::int64_t row = place.y + y, column = place.x + x;
                const bool inside = row < c.shape.out_height && column < c.shape.out_width;
                cells[y * M + x] = inside ? c.diff_dst + ((place.image * c.shape.out_height + row) *
                                                              c.shape.out_width +
                                                          column) *
                                                             filters
                                          : c.forward.zeros;
            }
        }
        for_channels<T>(filters, [&](auto lanes, std::int64_t f) DTNN_UNROLLED {
            using V = decltype(lanes);
            typename V::Vector rows[P][M], total{};
            for (int x = 0; x < M; ++x) {
                typename V::Vector column[M], transformed[P];
                unroll<M>([&](auto y) DTNN_UNROLLED {
                    column[y] = V::load(cells[y * M + x] + f);
                    total += column[y];
                });
                Winograd<M>::gradient(column, transformed);
                unroll<P>([&](auto y) DTNN_UNROLLED { rows[y][x] = transformed[y]; });
            }
            T* into = to + PanelPlaces<N>{0, c.layout.block}(t, f);
            for (int y = 0; y < P; ++y) {
                typename V::Vector transformed[P];
                Winograd<M>::gradient(rows[y], transformed);
                unroll<P>([&](auto x) DTNN_UNROLLED {
                    V::store(into + (y * P + x) * plane, transformed[x]);
                });
            }
            if (bias) {
                for (int lane = 0; lane < V::kLanes; ++lane)
                    bias[f + lane] += double(total[lane]);
            }
        });
    }
}

/// sums[kRows][V*L] (+)= the outer products of `count` rows of two panels.
template <class T, int L, int R, int V>
void add_outer(const T* a, const T* b, std::int64_t count, T* sums, bool add) {
    constexpr int kRows = int(WinogradOuterWorkspace::kRows), N = V * L;
    for (int row = 0; row < kRows; row += R, sums += R * N) {
        Vector<T, L> s[R][V] = {};
        if (add) {
            unroll<R>([&](auto r) DTNN_UNROLLED {
                unroll<V>([&](auto v)
                              DTNN_UNROLLED { s[r][v] = load<T, L>(sums + r * N + v * L); });
            });
        }
        const T* left = a + row;
        const T* right = b;
        for (std::int64_t t = 0; t < count; ++t, left += kRows, right += N) {
            Vector<T, L> values[V];
            unroll<V>([&](auto v) DTNN_UNROLLED { values[v] = load<T, L>(right + v * L); });
            unroll<R>([&](auto r) DTNN_UNROLLED {
                const Vector<T, L> factor = broadcast<T, L>(left[r]);
                unroll<V>([&](auto v) DTNN_UNROLLED { s[r][v] += factor * values[v]; });
            });
        }
        unroll<R>([&](auto r) DTNN_UNROLLED {
            unroll<V>([&](auto v) DTNN_UNROLLED { store<T, L>(sums + r * N + v * L, s[r][v]); });
        });
    }
}

/// G^T s G of an item, sums[point][kRows][N], to its place in diff_weights.
template <class T, int M, int L, int N>
void store_filters(const WinogradOuter<T>& c, std::int64_t channel, std::int64_t filter,
                   const T* sums) {
    constexpr int P = Winograd<M>::kPoints, kRows = int(WinogradOuterWorkspace::kRows);
    const std::int64_t channels = c.shape.depth, filters = c.shape.width;
    const std::int64_t rows = channels - channel < kRows ? channels - channel : kRows;
    for (std::int64_t r = 0; r < rows; ++r, sums += N) {
        for (std::int64_t f = 0; f < N && filter + f < filters; f += L) {
            const std::int64_t left = filters - filter - f;
            Vector<T, L> columns[3][P];
            unroll<P>([&](auto x) DTNN_UNROLLED {
                Vector<T, L> s[P], g[3];
                unroll<P>([&](auto y) DTNN_UNROLLED {
                    s[y] = load<T, L>(sums + (y * P + x) * kRows * N + f);
                });
                Winograd<M>::template filter_gradient<T>(s, g);
                unroll<3>([&](auto y) DTNN_UNROLLED { columns[y][x] = g[y]; });
            });
            unroll<3>([&](auto y) DTNN_UNROLLED {
                Vector<T, L> g[3];
                Winograd<M>::template filter_gradient<T>(columns[y], g);
                unroll<3>([&](auto x) DTNN_UNROLLED {
                    T* to = c.diff_weights + ((y * 3 + x) * channels + channel + r) * filters +
                            filter + f;
                    if (left >= L) {
                        store<T, L>(to, g[x]);
                    } else {
                        for (std::int64_t lane = 0; lane < left; ++lane)
                            to[lane] = g[x][lane];
                    }
                });
            });
        }
    }
}

template <class T, int M, int L, int R, int V>
void winograd_outer_with_tile(const WinogradOuter<T>& c, ThreadTeam& team) {
    constexpr int P = Winograd<M>::kPoints, N = V * L, kRows = int(WinogradOuterWorkspace::kRows);
    const WinogradOuterWorkspace& layout = c.layout;
    const std::int64_t channel_items = (c.shape.depth + kRows - 1) / kRows;
    const std::int64_t items = channel_items * ((c.shape.width + N - 1) / N);
    constexpr std::int64_t kItem = std::int64_t{P} * P * kRows * N;
    const std::int64_t tiles = c.shape.tiles();
    const std::int64_t widest = c.shape.depth > c.shape.width ? c.shape.depth : c.shape.width;
    for (std::int64_t i = 0; i < widest; ++i)
        c.forward.zeros[i] = T(0);
    for (int member = 0; c.diff_bias && member < team.size(); ++member) {
        for (std::int64_t f = 0; f < c.shape.width; ++f)
            c.bias_of(member)[f] = 0;
    }
    for (std::int64_t first = 0; first < tiles; first += layout.block) {
        const std::int64_t count = tiles - first < layout.block ? tiles - first : layout.block;
        team.divide(count, 1, c.diff_bias, [&](std::int64_t begin, std::int64_t end, int member) {
            transform_source<T, M>(c.forward, c.shape, first + begin, end - begin,
                                   c.at(layout.source), layout.source_plane,
                                   PanelPlaces<kRows>{begin, layout.block});
            transform_gradient<T, M, N>(c, first, begin, end,
                                        c.diff_bias ? c.bias_of(member) : nullptr);
        });
        const bool last = first + count == tiles;
        // Items of the same filters follow each other: their panel stays in the second cache.
        team.for_pieces(items, 1, [&](std::int64_t from, std::int64_t to, int thread) {
            for (std::int64_t item = from; item < to; ++item) {
                const std::int64_t channel = item % channel_items, filter = item / channel_items;
                T* sums = c.at(layout.sums) + (layout.keeps_sums ? item : thread) * kItem;
                for (std::int64_t point = 0; point < P * P; ++point) {
                    add_outer<T, L, R, V>(c.at(layout.source) + point * layout.source_plane +
                                              channel * layout.block * kRows,
                                          c.at(layout.gradient) + point * layout.gradient_plane +
                                              filter * layout.block * N,
                                          count, sums + point * kRows * N, first > 0);
                }
                if (last) store_filters<T, M, L, N>(c, channel * kRows, filter * N, sums);
            }
        });
    }
    if (!c.diff_bias) return;
    for (std::int64_t f = 0; f < c.shape.width; ++f) {
        double sum = 0;
        for (int member = 0; member < team.size(); ++member)
            sum += c.bias_of(member)[f];
        c.diff_bias[f] = T(sum);
    }
}

template <class T, int M>
void winograd_outer(const Conv2dBackwardWeightsArguments<T>& a, ThreadTeam& team) {
    constexpr int L = kLanes<T>;
    const WinogradShape shape{a.shape.batch,      a.shape.channels,  a.shape.filters,
                              a.shape.out_height, a.shape.out_width, M};
    WinogradOuter<T> c{gather_of(a.shape, a.src),
                       shape,
                       WinogradOuterWorkspace(shape, sizeof(T), team.size()),
                       a.diff_dst,
                       a.diff_weights,
                       a.diff_bias,
                       a.workspace.data()};
    c.forward.zeros = c.at(c.layout.zeros);
    if constexpr (kVectorBytes == 64) {
        if (shape.width <= L)
            winograd_outer_with_tile<T, M, L, 16, 1>(c, team);
        else if (shape.width % (3 * L) == 0)
            winograd_outer_with_tile<T, M, L, 8, 3>(c, team);
        else
            winograd_outer_with_tile<T, M, L, 8, 2>(c, team);
    } else {
        winograd_outer_with_tile<T, M, L, 4, 2>(c, team);
    }
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
