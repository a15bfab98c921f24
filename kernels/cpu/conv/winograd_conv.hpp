#pragma once
/// 3x3 convolutions of stride 1, forward and backward to the data, by Winograd's algorithm: tiles
/// of the source and the filters are transformed (winograd.hpp), multiplied as one matrix product
/// per point, and the products transformed into results. A block of tiles stays in the second cache
/// meanwhile, of the thread that transformed it: no thread reads what another has transformed, but
/// for filters that all keep. Formula: gather_conv.hpp's; error bound: winograd.hpp.

#include "kernels/cpu/conv/gather_conv.hpp"
#include "kernels/cpu/conv/winograd.hpp"
#include "kernels/workspace/winograd.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

template <class T>
struct WinogradConv : GatherConv<T> {
    WinogradShape shape;
    WinogradWorkspace layout;
    std::byte* workspace = nullptr;

    WinogradConv(const GatherConv<T>& conv, Workspace scratch, const ThreadTeam& team)
        : GatherConv<T>(conv),
          shape{conv.batch, conv.depth, conv.width, conv.y.output, conv.x.output},
          layout(shape, sizeof(T), team.size(), conv.statistics != nullptr),
          workspace(scratch.data()) {
        this->zeros = reinterpret_cast<T*>(workspace + layout.zeros);
    }

    T* of(int member, std::int64_t offset) const {
        return reinterpret_cast<T*>(workspace + layout.threads + member * layout.bytes_per_thread +
                                    offset);
    }
    /// The sums of a slice of the tiles; null: none are wanted.
    double* statistics_of(std::int64_t slice) const {
        if (!this->statistics) return nullptr;
        return reinterpret_cast<double*>(workspace + layout.statistics +
                                         slice * layout.statistics_per_slice);
    }
};

/// The place of the first result of tile `tile`.
struct TilePlace {
    std::int64_t image, y, x;
    TilePlace(const WinogradShape& s, std::int64_t tile)
        : image(tile / (s.rows() * s.columns())),
          y(tile / s.columns() % s.rows() * s.tile),
          x(tile % s.columns() * s.tile) {}
};

/// The place of channel d of tile t in the plane of a point: rows of tiles, [tile][depth].
struct RowPlaces {
    std::int64_t depth;
    std::int64_t operator()(std::int64_t t, std::int64_t d) const { return t * depth + d; }
};

/// B^T d B of `count` tiles from `first` on: to[point][place(tile, depth)].
template <class T, class Places>
void transform_source(const GatherConv<T>& c, const WinogradShape& shape, std::int64_t first,
                      std::int64_t count, T* to, std::int64_t plane, Places places) {
    constexpr int P = Winograd::kPoints;
    for (std::int64_t t = 0; t < count; ++t) {
        const TilePlace place(shape, first + t);
        const T* cells[P * P];
        for (int y = 0; y < P; ++y) {
            const std::int64_t row = place.y + c.y.offset + y;
            for (int x = 0; x < P; ++x) {
                const std::int64_t column = place.x + c.x.offset + x;
                const bool inside =
                    row >= 0 && row < c.y.source && column >= 0 && column < c.x.source;
                cells[y * P + x] =
                    inside
                        ? c.src + ((place.image * c.y.source + row) * c.x.source + column) * c.depth
                        : c.zeros;
            }
        }
        for_channels<T>(c.depth, [&](auto lanes, std::int64_t d) DTNN_UNROLLED {
            using V = decltype(lanes);
            typename V::Vector rows[P][P];
            for (int x = 0; x < P; ++x) {
                typename V::Vector column[P], transformed[P];
                unroll<P>([&](auto y) DTNN_UNROLLED { column[y] = V::load(cells[y * P + x] + d); });
                Winograd::source(column, transformed);
                unroll<P>([&](auto y) DTNN_UNROLLED { rows[y][x] = transformed[y]; });
            }
            T* into = to + places(t, d);
            for (int y = 0; y < P; ++y) {
                typename V::Vector transformed[P];
                Winograd::source(rows[y], transformed);
                unroll<P>([&](auto x) DTNN_UNROLLED {
                    V::store(into + (y * P + x) * plane, transformed[x]);
                });
            }
        });
    }
}

/// Row `row` of G g G^T of a panel of N columns: to[point of the row][depth][N]; taps[9][depth][N].
template <class T, int N>
void transform_filters(const T* taps, std::int64_t depth, int row, T* to) {
    constexpr int P = Winograd::kPoints;
    constexpr int L = N < kLanes<T> ? N : kLanes<T>;
    using V = Lanes<T, L>;
    const std::int64_t size = depth * N;
    // The row's parts: G's row, taken from the transform itself.
    T unit[3], factors[3], column[P];
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 3; ++i)
            unit[i] = i == k ? T(1) : T(0);
        Winograd::filter<T>(unit, column);
        factors[k] = column[row];
    }
    for (std::int64_t i = 0; i < size; i += L) {
        typename V::Vector g[3], u[P];
        unroll<3>([&](auto x) DTNN_UNROLLED {
            g[x] = factors[0] * V::load(taps + x * size + i) +
                   factors[1] * V::load(taps + (3 + x) * size + i) +
                   factors[2] * V::load(taps + (6 + x) * size + i);
        });
        Winograd::filter<T>(g, u);
        unroll<P>([&](auto x) DTNN_UNROLLED { V::store(to + x * size + i, u[x]); });
    }
}

/// The products of a point: to[tile][N] = source[tile][depth] * panel[depth][N]. A function of its
/// own, because within its only caller the rows' addresses would find no registers.
template <class T, int L, int R, int V>
[[gnu::noinline]] void multiply_point(const T* source, std::int64_t depth, std::int64_t count,
                                      const T* panel, T* to) {
    for (std::int64_t t = 0; t < count; t += R, to += R * V * L) {
        const T* rows[R];
        // Rows past the end repeat the last tile: their results are not used.
        for (int r = 0; r < R; ++r)
            rows[r] = source + (t + r < count ? t + r : count - 1) * depth;
        Vector<T, L> sums[R][V] = {};
        Ahead ahead{reinterpret_cast<const char*>(rows[0]), 0};
        multiply_rows<T, L, R, V>(sums, rows, depth, panel, V * L, ahead);
        unroll<R>([&](auto r) DTNN_UNROLLED {
            unroll<V>([&](auto v) DTNN_UNROLLED { store<T, L>(to + (r * V + v) * L, sums[r][v]); });
        });
    }
}

/// The results of `count` tiles, of columns from `column` on, from[point][tile][N].
template <class T, int N>
void transform_results(const WinogradConv<T>& c, std::int64_t first, std::int64_t count,
                       std::int64_t column, const T* from, double* partial) {
    constexpr int P = Winograd::kPoints;
    const std::int64_t plane = c.layout.product_plane;
    const std::int64_t columns = c.width - column < N ? c.width - column : N;
    for (std::int64_t t = 0; t < count; ++t, from += N) {
        const TilePlace place(c.shape, first + t);
        const std::int64_t height = c.y.output - place.y < Winograd::kResults
                                        ? c.y.output - place.y
                                        : std::int64_t(Winograd::kResults);
        const std::int64_t width = c.x.output - place.x < Winograd::kResults
                                       ? c.x.output - place.x
                                       : std::int64_t(Winograd::kResults);
        const std::int64_t corner =
            ((place.image * c.y.output + place.y) * c.x.output + place.x) * c.width + column;
        for_channels<T>(columns, [&](auto lanes, std::int64_t j) DTNN_UNROLLED {
            using V = decltype(lanes);
            typename V::Vector rows[Winograd::kResults][P];
            for (int x = 0; x < P; ++x) {
                typename V::Vector products[P], transformed[Winograd::kResults];
                unroll<P>([&](auto y) DTNN_UNROLLED {
                    products[y] = V::load(from + (y * P + x) * plane + j);
                });
                Winograd::result(products, transformed);
                unroll<Winograd::kResults>([&](auto y)
                                               DTNN_UNROLLED { rows[y][x] = transformed[y]; });
            }
            typename V::Vector bias{};
            if (c.bias) bias = V::load(c.bias + column + j);
            for (std::int64_t y = 0; y < height; ++y) {
                typename V::Vector values[Winograd::kResults];
                Winograd::result(rows[y], values);
                const std::int64_t line = corner + y * c.x.output * c.width + j;
                unroll<Winograd::kResults>([&](auto x) DTNN_UNROLLED {
                    if (x >= width) return;
                    const std::int64_t at = line + x * c.width;
                    typename V::Vector value = values[x] + bias;
                    if (c.residual) value += V::load(c.residual + at);
                    if (c.relu) value = value < T(0) ? V::zero() : value;
                    if (c.mask) value = V::load(c.mask + at) > T(0) ? value : V::zero();
                    V::store(c.dst + at, value);
                });
            }
        });
        if (!partial) continue;
        add_statistics(c, corner, height, width, column, columns, partial);
    }
}

/// Adds the results of a tile, and their squares, to a thread's sums.
template <class T>
void add_statistics(const GatherConv<T>& c, std::int64_t corner, std::int64_t height,
                    std::int64_t width, std::int64_t column, std::int64_t columns,
                    double* partial) {
    for_channels<double>(columns, [&](auto lanes, std::int64_t j) DTNN_UNROLLED {
        using D = decltype(lanes);
        using S = Lanes<T, D::kLanes>;
        double* sum = partial + column + j;
        double* squares = sum + c.width;
        auto s = D::load(sum), q = D::load(squares);
        const auto origin =
            c.bias ? S::to_double(S::load(c.bias + column + j)) : typename S::Doubles{};
        for (std::int64_t y = 0; y < height; ++y) {
            const T* line = c.dst + corner + y * c.x.output * c.width + j;
            for (std::int64_t x = 0; x < width; ++x, line += c.width) {
                const auto value = S::to_double(S::load(line)) - origin;
                s += value;
                q += value * value;
            }
        }
        D::store(sum, s);
        D::store(squares, q);
    });
}

/// The epilogue over `columns` columns of the results of some tiles.
template <class T>
void rewrite_tiles(const WinogradConv<T>& c, std::int64_t first, std::int64_t count,
                   std::int64_t column, std::int64_t columns) {
    for (std::int64_t t = first; t < first + count; ++t) {
        const TilePlace place(c.shape, t);
        const std::int64_t rest_x = c.x.output - place.x, rest_y = c.y.output - place.y;
        const std::int64_t width = rest_x < Winograd::kResults ? rest_x : Winograd::kResults;
        const std::int64_t height = rest_y < Winograd::kResults ? rest_y : Winograd::kResults;
        const std::int64_t cell = (place.image * c.y.output + place.y) * c.x.output + place.x;
        rewrite_rows(*c.epilogue, height * width, columns, [&](std::int64_t r) {
            return c.dst + (cell + r / width * c.x.output + r % width) * c.width + column;
        });
    }
}

/// The filters of N columns as they are, behind each other, and transformed, all rows of points.
template <class T, int L, int V>
void transform_panel(const WinogradConv<T>& c, std::int64_t panel, int thread) {
    constexpr int P = Winograd::kPoints, N = V * L;
    T* taps = c.of(thread, c.layout.taps);
    pack_panel<T, N>(c, 0, panel * N, taps);
    for (int row = 0; row < P; ++row)
        transform_filters<T, N>(taps, c.depth, row, c.panels + (panel * P + row) * P * c.depth * N);
}

/// The products of a row of points of some tiles with N columns of the filters.
template <class T, int L, int R, int V>
void multiply_row(const WinogradConv<T>& c, const T* source, std::int64_t count, int row,
                  const T* filters, T* products) {
    constexpr int P = Winograd::kPoints;
    const std::int64_t panel = c.depth * V * L;
    for (int x = 0; x < P; ++x) {
        const int point = row * P + x;
        multiply_point<T, L, R, V>(source + point * c.layout.source_plane, c.depth, count,
                                   filters + x * panel, products + point * c.layout.product_plane);
    }
}

/// Tiles [begin, end) against panels [from, to) of N = V*L columns. The sums of the panels' columns
/// are written to `partial`.
struct WinogradPiece {
    std::int64_t begin, end, from, to;
    double* partial;
};

template <class T, int L, int R, int V>
void winograd_piece(const WinogradConv<T>& c, const WinogradPiece& piece, int thread) {
    constexpr int P = Winograd::kPoints, N = V * L;
    const WinogradWorkspace& layout = c.layout;
    T* const source = c.of(thread, layout.source);
    T* const products = c.of(thread, layout.products);
    T* const taps = c.of(thread, layout.taps);
    T* const transformed = c.of(thread, layout.filters);
    const std::int64_t limit = piece.to * N < c.width ? piece.to * N : c.width;
    for (std::int64_t j = piece.from * N; piece.partial && j < limit; ++j)
        piece.partial[j] = piece.partial[c.width + j] = 0;
    for (std::int64_t first = piece.begin; first < piece.end; first += layout.block) {
        const std::int64_t left = piece.end - first;
        const std::int64_t count = left < layout.block ? left : layout.block;
        transform_source<T>(c, c.shape, first, count, source, layout.source_plane,
                            RowPlaces{c.depth});
        for (std::int64_t panel = piece.from; panel < piece.to; ++panel) {
            if (!layout.shared) pack_panel<T, N>(c, 0, panel * N, taps);
            for (int row = 0; row < P; ++row) {
                const T* filters = c.panels + (panel * P + row) * P * c.depth * N;
                if (!layout.shared) {
                    transform_filters<T, N>(taps, c.depth, row, transformed);
                    filters = transformed;
                }
                multiply_row<T, L, R, V>(c, source, count, row, filters, products);
            }
            transform_results<T, N>(c, first, count, panel * N, products, piece.partial);
        }
        if (c.epilogue && piece.from * N < limit)
            rewrite_tiles<T>(c, first, count, piece.from * N, limit - piece.from * N);
    }
}

template <class T, int L, int R, int V>
void winograd_with_tile(const WinogradConv<T>& c, ThreadTeam& team) {
    constexpr int N = V * L;
    const WinogradWorkspace& layout = c.layout;
    const std::int64_t panels = (c.width + N - 1) / N;
    for (std::int64_t d = 0; d < c.depth; ++d)
        c.zeros[d] = T(0);
    team.for_pieces(layout.shared ? panels : 0, 1,
                    [&](std::int64_t from, std::int64_t to, int thread) {
                        for (std::int64_t panel = from; panel < to; ++panel)
                            transform_panel<T, L, V>(c, panel, thread);
                    });
    // Slices of whole tiles of R rows.
    const std::int64_t tiles = c.shape.tiles(), rows = (tiles + R - 1) / R;
    const auto begin_of = [&](std::int64_t slice) {
        const std::int64_t row = layout.shared ? team.begin_of_piece(slice, layout.slices, rows)
                                               : rows * slice / layout.slices;
        return row * R < tiles ? row * R : tiles;
    };
    team.for_each(layout.slices * layout.parts, [&](std::int64_t piece, int thread) {
        const std::int64_t slice = piece / layout.parts, part = piece % layout.parts;
        winograd_piece<T, L, R, V>(
            c,
            {begin_of(slice), begin_of(slice + 1), panels * part / layout.parts,
             panels * (part + 1) / layout.parts, c.statistics_of(slice)},
            thread);
    });
    if (!c.statistics) return;
    double* const sums = c.statistics_of(0);
    add_up_pieces(sums, 2 * c.width, layout.slices, layout.statistics_per_slice / 8, team);
    total_statistics(c.statistics, c.width, c.bias, 1, [&](int) { return sums; });
}

/// As `gather`: narrow results in narrower vectors.
template <class T>
void winograd(const GatherConv<T>& conv, Workspace workspace, ThreadTeam& team) {
    constexpr int L = kLanes<T>;
    WinogradConv<T> c(conv, workspace, team);
    c.panels = reinterpret_cast<T*>(workspace.data());
    if (c.width <= L / 2 && L > 4)
        winograd_with_tile<T, (L > 4 ? L / 2 : L), kTileRows, 1>(c, team);
    else if (c.width <= L)
        winograd_with_tile<T, L, kTileRows, 1>(c, team);
    else if (kTileVectors > 2 && c.width % (3 * L) == 0)
        winograd_with_tile<T, L, kTileRows, kTileVectors>(c, team);
    else
        winograd_with_tile<T, L, kTileRows, 2>(c, team);
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
