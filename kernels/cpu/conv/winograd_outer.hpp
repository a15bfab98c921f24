#pragma once
/// The gradient of 3x3 filters, stride 1, by Winograd's algorithm. A block of tiles at a time is
/// transformed, the source's and diff_dst's, and multiplied as one outer product per point, summed
/// over the tiles; the sums become filters in the end. The filters are divided into items of kRows
/// channels by N filters. Bits depend on the members among whom tiles are divided, if on any
/// (WinogradOuterWorkspace), not on which thread did what.
/// Formula: Conv2dBackwardWeightsArguments'; error bound: winograd.hpp.

#include "kernels/cpu/conv/winograd_conv.hpp"

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

    T* of(std::int64_t member, std::int64_t offset) const {
        return reinterpret_cast<T*>(workspace + member * layout.bytes_per_member + offset);
    }
    double* bias_of(int member) const {
        return reinterpret_cast<double*>(workspace + layout.bias + member * layout.bias_per_thread);
    }
};

/// The place of channel d of tile t, counted from `first`, in panels of kWidth columns:
/// [panel][tile of the block][kWidth].
template <int kWidth>
struct PanelPlaces {
    std::int64_t first, block;
    std::int64_t operator()(std::int64_t t, std::int64_t d) const {
        return (d / kWidth * block + first + t) * kWidth + d % kWidth;
    }
};

/// A dy A^T of tiles [begin, end) of the block that begins with tile `first`, in panels of N at
/// `to`.
template <class T, int N>
void transform_gradient(const WinogradOuter<T>& c, std::int64_t first, std::int64_t begin,
                        std::int64_t end, T* to, double* bias) {
    constexpr int P = Winograd::kPoints;
    const std::int64_t plane = c.layout.gradient_plane, filters = c.shape.width;
    for (std::int64_t t = begin; t < end; ++t) {
        const TilePlace place(c.shape, first + t);
        const T* cells[Winograd::kResults * Winograd::kResults];
        for (int y = 0; y < Winograd::kResults; ++y) {
            for (int x = 0; x < Winograd::kResults; ++x) {
                const std::int64_t row = place.y + y, column = place.x + x;
                const bool inside = row < c.shape.out_height && column < c.shape.out_width;
                cells[y * Winograd::kResults + x] =
                    inside ? c.diff_dst +
                                 ((place.image * c.shape.out_height + row) * c.shape.out_width +
                                  column) *
                                     filters
                           : c.forward.zeros;
            }
        }
        for_channels<T>(filters, [&](auto lanes, std::int64_t f) DTNN_UNROLLED {
            using V = decltype(lanes);
            typename V::Vector rows[P][Winograd::kResults], total{};
            for (int x = 0; x < Winograd::kResults; ++x) {
                typename V::Vector column[Winograd::kResults], transformed[P];
                unroll<Winograd::kResults>([&](auto y) DTNN_UNROLLED {
                    column[y] = V::load(cells[y * Winograd::kResults + x] + f);
                    total += column[y];
                });
                Winograd::gradient(column, transformed);
                unroll<P>([&](auto y) DTNN_UNROLLED { rows[y][x] = transformed[y]; });
            }
            T* into = to + PanelPlaces<N>{0, c.layout.block}(t, f);
            for (int y = 0; y < P; ++y) {
                typename V::Vector transformed[P];
                Winograd::gradient(rows[y], transformed);
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
template <class T, int L, int N>
void store_filters(const WinogradOuter<T>& c, std::int64_t channel, std::int64_t filter,
                   const T* sums) {
    constexpr int P = Winograd::kPoints, kRows = int(WinogradOuterWorkspace::kRows);
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
                Winograd::filter_gradient<T>(s, g);
                unroll<3>([&](auto y) DTNN_UNROLLED { columns[y][x] = g[y]; });
            });
            unroll<3>([&](auto y) DTNN_UNROLLED {
                Vector<T, L> g[3];
                Winograd::filter_gradient<T>(columns[y], g);
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

/// The items of a convolution: [filters / N][channels / kRows], sums[point][kRows][N] of each.
template <class T, int N>
struct OuterItems {
    static constexpr int kRows = int(WinogradOuterWorkspace::kRows);
    static constexpr int kPoints = Winograd::kPoints * Winograd::kPoints;
    static constexpr std::int64_t kItem = std::int64_t{kPoints} * kRows * N;
    std::int64_t by_channels, count;

    explicit OuterItems(const WinogradShape& shape)
        : by_channels((shape.depth + kRows - 1) / kRows),
          count(by_channels * ((shape.width + N - 1) / N)) {}
    std::int64_t channel(std::int64_t item) const { return item % by_channels; }
    std::int64_t filter(std::int64_t item) const { return item / by_channels; }
};

/// Tiles [begin, end) of the block that begins with tile `first`, transformed for a member.
template <class T, int N>
void transform_block(const WinogradOuter<T>& c, std::int64_t member, std::int64_t first,
                     std::int64_t begin, std::int64_t end, double* bias) {
    constexpr int kRows = int(WinogradOuterWorkspace::kRows);
    transform_source<T>(c.forward, c.shape, first + begin, end - begin,
                        c.of(member, c.layout.source), c.layout.source_plane,
                        PanelPlaces<kRows>{begin, c.layout.block});
    transform_gradient<T, N>(c, first, begin, end, c.of(member, c.layout.gradient), bias);
}

/// The products of points [begin, end) of an item over `count` tiles of a member's block.
template <class T, int L, int R, int V>
void multiply_item(const WinogradOuter<T>& c, const OuterItems<T, V * L>& items,
                   std::int64_t member, std::int64_t item, std::int64_t begin, std::int64_t end,
                   std::int64_t count, T* sums, bool add) {
    constexpr int N = V * L, kRows = int(WinogradOuterWorkspace::kRows);
    const WinogradOuterWorkspace& layout = c.layout;
    const T* source = c.of(member, layout.source) + items.channel(item) * layout.block * kRows;
    const T* gradient = c.of(member, layout.gradient) + items.filter(item) * layout.block * N;
    for (std::int64_t point = begin; point < end; ++point) {
        add_outer<T, L, R, V>(source + point * layout.source_plane,
                              gradient + point * layout.gradient_plane, count,
                              sums + point * kRows * N, add);
    }
}

/// Every member sums its own tiles, all items of a block; the sums of all members become filters.
template <class T, int L, int R, int V>
void sum_own_tiles(const WinogradOuter<T>& c, ThreadTeam& team) {
    using Items = OuterItems<T, V * L>;
    const WinogradOuterWorkspace& layout = c.layout;
    const Items items(c.shape);
    const std::int64_t tiles = c.shape.tiles();
    team.run([&](int member) {
        const std::int64_t begin = tiles * member / team.size();
        const std::int64_t end = tiles * (member + 1) / team.size();
        T* const all = c.of(member, layout.sums);
        for (std::int64_t first = begin; first < end; first += layout.block) {
            const std::int64_t count = end - first < layout.block ? end - first : layout.block;
            transform_block<T, V * L>(c, member, first, 0, count,
                                      c.diff_bias ? c.bias_of(member) : nullptr);
            for (std::int64_t item = 0; item < items.count; ++item) {
                T* const sums = all + (layout.keeps_sums ? item * Items::kItem : 0);
                multiply_item<T, L, R, V>(c, items, member, item, 0, Items::kPoints, count, sums,
                                          first > begin);
                if (team.size() == 1 && first + count == end) {
                    store_filters<T, L, V * L>(c, items.channel(item) * Items::kRows,
                                               items.filter(item) * V * L, sums);
                }
            }
        }
    });
    if (team.size() == 1) return;
    team.for_pieces(items.count, 1, [&](std::int64_t from, std::int64_t to, int) {
        for (std::int64_t item = from; item < to; ++item) {
            T* const sums = c.of(0, layout.sums) + item * Items::kItem;
            for (int member = 1; member < team.size(); ++member) {
                const T* const others = c.of(member, layout.sums) + item * Items::kItem;
                for (std::int64_t i = 0; i < Items::kItem; ++i)
                    sums[i] += others[i];
            }
            store_filters<T, L, V * L>(c, items.channel(item) * Items::kRows,
                                       items.filter(item) * V * L, sums);
        }
    });
}

/// All threads transform a block together, and divide its items; or the points of its items, where
/// these are few.
template <class T, int L, int R, int V>
void share_tiles(const WinogradOuter<T>& c, ThreadTeam& team) {
    using Items = OuterItems<T, V * L>;
    const WinogradOuterWorkspace& layout = c.layout;
    const Items items(c.shape);
    const std::int64_t tiles = c.shape.tiles();
    const std::int64_t wanted = (team.size() * ThreadTeam::kPieces + items.count - 1) / items.count;
    const std::int64_t most = layout.keeps_sums ? Items::kPoints : 1;
    const std::int64_t cuts = wanted < most ? wanted : most;
    for (std::int64_t first = 0; first < tiles; first += layout.block) {
        const std::int64_t count = tiles - first < layout.block ? tiles - first : layout.block;
        team.divide(count, 1, c.diff_bias, [&](std::int64_t begin, std::int64_t end, int member) {
            transform_block<T, V * L>(c, 0, first, begin, end,
                                      c.diff_bias ? c.bias_of(member) : nullptr);
        });
        const bool last = first + count == tiles;
        const auto store = [&](std::int64_t item, const T* sums) {
            store_filters<T, L, V * L>(c, items.channel(item) * Items::kRows,
                                       items.filter(item) * V * L, sums);
        };
        // Items of the same filters follow each other: their panel stays in the second cache.
        team.for_pieces(items.count * cuts, 1, [&](std::int64_t from, std::int64_t to, int thread) {
            for (std::int64_t i = from; i < to; ++i) {
                const std::int64_t item = i / cuts, cut = i % cuts;
                T* const sums =
                    c.of(0, layout.sums) + (layout.keeps_sums ? item : thread) * Items::kItem;
                multiply_item<T, L, R, V>(c, items, 0, item, Items::kPoints * cut / cuts,
                                          Items::kPoints * (cut + 1) / cuts, count, sums,
                                          first > 0);
                if (last && cuts == 1) store(item, sums);
            }
        });
        if (!last || cuts == 1) continue;
        team.for_pieces(items.count, 1, [&](std::int64_t from, std::int64_t to, int) {
            for (std::int64_t item = from; item < to; ++item)
                store(item, c.of(0, layout.sums) + item * Items::kItem);
        });
    }
}

template <class T, int L, int R, int V>
void winograd_outer_with_tile(const WinogradOuter<T>& c, ThreadTeam& team) {
    const std::int64_t widest = c.shape.depth > c.shape.width ? c.shape.depth : c.shape.width;
    for (std::int64_t i = 0; i < widest; ++i)
        c.forward.zeros[i] = T(0);
    for (int member = 0; c.diff_bias && member < team.size(); ++member) {
        for (std::int64_t f = 0; f < c.shape.width; ++f)
            c.bias_of(member)[f] = 0;
    }
    if (c.layout.members == team.size())
        sum_own_tiles<T, L, R, V>(c, team);
    else
        share_tiles<T, L, R, V>(c, team);
    if (!c.diff_bias) return;
    for (std::int64_t f = 0; f < c.shape.width; ++f) {
        double sum = 0;
        for (int member = 0; member < team.size(); ++member)
            sum += c.bias_of(member)[f];
        c.diff_bias[f] = T(sum);
    }
}

template <class T>
void winograd_outer(const Conv2dBackwardWeightsArguments<T>& a, ThreadTeam& team) {
    constexpr int L = kLanes<T>;
    const WinogradShape shape{a.shape.batch, a.shape.channels, a.shape.filters, a.shape.out_height,
                              a.shape.out_width};
    WinogradOuter<T> c{gather_of(a.shape, a.src),
                       shape,
                       WinogradOuterWorkspace(shape, sizeof(T), team.size()),
                       a.diff_dst,
                       a.diff_weights,
                       a.diff_bias,
                       a.workspace.data()};
    c.forward.zeros = reinterpret_cast<T*>(c.workspace + c.layout.zeros);
    if constexpr (kVectorBytes == 64) {
        if (shape.width <= L)
            winograd_outer_with_tile<T, L, 16, 1>(c, team);
        else if (shape.width % (3 * L) == 0)
            winograd_outer_with_tile<T, L, 8, 3>(c, team);
        else
            winograd_outer_with_tile<T, L, 8, 2>(c, team);
    } else {
        winograd_outer_with_tile<T, L, 4, 2>(c, team);
    }
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
