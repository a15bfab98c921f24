#pragma once
/// Convolution forward and backward to the data as one algorithm: every output cell gathers, over
/// the taps, source rows of `depth` channels times a matrix of the tap. Nothing is lowered: a tile
/// of output cells keeps, per tap, pointers to its source rows, cells outside the image being a row
/// of zeros. Taps that are outside for the whole tile are skipped, and where images are small the
/// tiles are made of one cell of several images, so that every such tap is skipped.
///
/// Formula, per group: dst[n,y,x,j] = sum over taps (kh,kw) and d in [0, depth) of
///   src[n, (y*multiply + offset + kh*dilation)/divide, likewise x, d] * panel[kh,kw,d,j]
/// over the taps where the division is exact and the result inside. Forward: multiply is the
/// stride, divide 1. Backward to the data: the taps in reverse order, divide is the stride,
/// multiply 1. Sums are in T, in the order of taps and channels, so results depend neither on the
/// threads nor on the tiling; error bound: taps*depth * epsilon * sum of |products|.

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/conv/conv_statistics.hpp"
#include "kernels/cpu/conv/gather_panels.hpp"
#include "kernels/cpu/conv/gather_tiles.hpp"
#include "kernels/cpu/expression_chunk.hpp"
#include "kernels/cpu/piece_sums.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Bias, residual, relu, mask and statistics on a tile of `columns` columns starting at `column`,
/// then stores it.
template <class T, int L, int R, int V>
DTNN_INLINE void finish_tile(const GatherConv<T>& c, const TileCells& cells, std::int64_t column,
                             std::int64_t columns, Vector<T, L> (&sums)[R][V], double* partial) {
    if (columns == V * L) {
        if (c.bias) {
            unroll<V>([&](auto v) DTNN_UNROLLED {
                const Vector<T, L> bias = load<T, L>(c.bias + column + v * L);
                unroll<R>([&](auto r) DTNN_UNROLLED { sums[r][v] += bias; });
            });
        }
        unroll<R>([&](auto r) DTNN_UNROLLED {
            if (r >= cells.count) return;
            const std::int64_t at = cells.pixel[r] * c.output_pixel() + column;
            unroll<V>([&](auto v) DTNN_UNROLLED {
                Vector<T, L> value = sums[r][v];
                if (c.residual) value += load<T, L>(c.residual + at + v * L);
                if (c.relu) value = value < T(0) ? Vector<T, L>{} : value;
                if (c.mask) {
                    value = load<T, L>(c.mask + at + v * L) > T(0) ? value : Vector<T, L>{};
                }
                store<T, L>(c.dst + at + v * L, value);
            });
        });
    } else {
        T values[R][V * L];
        unroll<R>([&](auto r) DTNN_UNROLLED {
            unroll<V>([&](auto v) DTNN_UNROLLED { store<T, L>(&values[r][v * L], sums[r][v]); });
        });
        for (std::int64_t r = 0; r < cells.count; ++r) {
            const std::int64_t at = cells.pixel[r] * c.output_pixel() + column;
            for (std::int64_t j = 0; j < columns; ++j) {
                T value = values[r][j];
                if (c.bias) value += c.bias[column + j];
                if (c.residual) value += c.residual[at + j];
                if (c.relu) value = value < 0 ? T(0) : value;
                if (c.mask) value = c.mask[at + j] > 0 ? value : T(0);
                c.dst[at + j] = value;
            }
        }
    }
    if (!partial) return;
    double* sum = partial + column;
    double* squares = sum + c.output_pixel();
    constexpr int D = V * L < kLanes<double> ? V * L : kLanes<double>;
    std::int64_t j = 0;
    for (; j + D <= columns; j += D) {
        Vector<double, D> s = load<double, D>(sum + j);
        Vector<double, D> q = load<double, D>(squares + j);
        Vector<double, D> origin = {};
        if (c.bias)
            origin = __builtin_convertvector((load<T, D>(c.bias + column + j)), Vector<double, D>);
        for (std::int64_t r = 0; r < cells.count; ++r) {
            const T* from = c.dst + cells.pixel[r] * c.output_pixel() + column + j;
            const Vector<double, D> value =
                __builtin_convertvector((load<T, D>(from)), Vector<double, D>) - origin;
            s += value;
            q += value * value;
        }
        store<double, D>(sum + j, s);
        store<double, D>(squares + j, q);
    }
    for (; j < columns; ++j) {
        const double origin = c.bias ? double(c.bias[column + j]) : 0.0;
        for (std::int64_t r = 0; r < cells.count; ++r) {
            const double value = c.dst[cells.pixel[r] * c.output_pixel() + column + j] - origin;
            sum[j] += value;
            squares[j] += value * value;
        }
    }
}

/// The source rows of a tile so many bytes further on as memory takes to answer, at least the next,
/// spread over the work of `blocks` panels, where one tap reads them, side by side: nothing but
/// their coming bounds such a convolution.
template <class T>
Ahead next_tile(const GatherConv<T>& c, const TileCells& cells, std::int64_t rows,
                std::int64_t blocks) {
    if (cells.place != TileCells::pointwise)
        return {reinterpret_cast<const char*>(c.packed ? c.packed : c.panels), 0};
    constexpr std::int64_t kDistance = 8192;
    const std::int64_t tile = rows * c.depth * std::int64_t(sizeof(T));
    const std::int64_t tiles = tile < kDistance ? (kDistance + tile - 1) / tile : 1;
    return {reinterpret_cast<const char*>(c.src + (cells.pixel[0] + tiles * rows) * c.depth),
            (rows * std::int64_t(sizeof(T)) + blocks - 1) / blocks};
}

/// Asks for what a tile of N columns is masked by or added to, and for the memory that it is
/// written to where no cache takes it: elsewhere whole lines are written, which need not be read
/// before.
template <class T, int N>
DTNN_INLINE void want_operands(const GatherConv<T>& c, const TileCells& cells,
                               std::int64_t column) {
    for (std::int64_t r = 0; r < cells.count; ++r) {
        const std::int64_t at = cells.pixel[r] * c.output_pixel() + column;
        for (std::int64_t j = 0; j < N; j += 64 / std::int64_t(sizeof(T))) {
            if (c.results_to_memory) __builtin_prefetch(c.dst + at + j, 1);
            if (c.mask) __builtin_prefetch(c.mask + at + j);
            if (c.residual) __builtin_prefetch(c.residual + at + j);
        }
    }
}

/// The epilogue over `columns` columns of a tile's results, which are in the first cache.
template <class T>
void apply_epilogue(const GatherConv<T>& c, const TileCells& cells, std::int64_t column,
                    std::int64_t columns) {
    rewrite_rows(*c.epilogue, cells.count, columns, [&](std::int64_t r) {
        return c.dst + cells.pixel[r] * c.output_pixel() + column;
    });
}

/// One tile against the first V*L columns of a panel, of which `columns` are wanted.
template <class T, int L, int R, int V>
DTNN_INLINE void gather_tile(const GatherConv<T>& c, const TileCells& cells, const TapRun<T>* runs,
                             std::int64_t count, const T* panel, std::int64_t stride,
                             std::int64_t column, std::int64_t columns, double* partial,
                             Ahead& ahead) {
    Vector<T, L> sums[R][V] = {};
    if (c.results_to_memory || c.mask || c.residual) want_operands<T, V * L>(c, cells, column);
    for (std::int64_t i = 0; i < count; ++i) {
        multiply_rows<T, L, R, V>(sums, runs[i].rows, runs[i].length,
                                  panel + runs[i].first * stride, stride, ahead);
    }
    finish_tile<T, L, R, V>(c, cells, column, columns, sums, partial);
}

/// Some tiles against some of the panels of a group. Statistics are summed in the place of the
/// tiles, each column's by whoever has its panel.
struct GatherPart {
    std::int64_t first_tile, last_tile, group, first_block, last_block, place;
};

/// The place's sums, of which those of the part's columns begin with zeros; null: none are wanted.
template <class T>
double* begin_statistics(const GatherConv<T>& c, const GatherPart& part, std::int64_t columns) {
    if (!c.partial_statistics) return nullptr;
    double* const partial = c.partial_statistics + part.place * c.partial_stride;
    const std::int64_t limit = part.last_block * columns;
    const std::int64_t from = part.group * c.width + part.first_block * columns;
    const std::int64_t to = part.group * c.width + (limit < c.width ? limit : c.width);
    for (std::int64_t j = from; j < to; ++j)
        partial[j] = partial[c.output_pixel() + j] = 0;
    return partial;
}

/// Whether more comes from memory for the panels than for the source.
template <class T>
bool panels_outweigh(const GatherConv<T>& c) {
    return c.groups == 1 &&
           c.tap_count() * c.depth * c.width > c.batch * c.y.source * c.x.source * c.depth;
}

/// Memory of `bytes`, from `from` on, asked for while the tiles of a part pass `rows` panel rows
/// each; this is the share of tile `tile` of `tiles`.
template <class T>
Ahead share_of_tile(const T* from, std::int64_t bytes, std::int64_t rows, std::int64_t tile,
                    std::int64_t tiles) {
    return {reinterpret_cast<const char*>(from) + bytes / tiles * tile, bytes / (tiles * rows)};
}

template <class T, int L, int R, int V>
void gather_tiles(const GatherConv<T>& c, const Tiling<T>& tiling, const Panels<T, V * L>& all,
                  const GatherPart& part, int thread) {
    constexpr int N = V * L;
    auto* runs = reinterpret_cast<TapRun<T>*>(c.taps + thread * c.taps_per_thread);
    double* const partial = begin_statistics(c, part, N);
    const T* const panels = all.first + part.group * all.blocks * all.distance;
    // One tile waits for its panels at any rate, which come in order.
    const bool streams =
        !all.in_place && panels_outweigh(c) && part.last_tile - part.first_tile > 1;
    for (std::int64_t first = part.first_block; first < part.last_block; first += all.together) {
        const std::int64_t last =
            first + all.together < part.last_block ? first + all.together : part.last_block;
        // A thread that has done with a part mostly goes on with the next.
        const std::int64_t next =
            last + (last - first) < all.blocks ? last - first : all.blocks - last;
        for (std::int64_t tile = part.first_tile; tile < part.last_tile; ++tile) {
            TileCells cells;
            tiling.cells(c, tile, cells);
            if (cells.count == 0) continue;
            const std::int64_t count = list_taps(c, cells, R, part.group, runs);
            Ahead ahead =
                streams ? share_of_tile(panels + last * all.distance,
                                        next * all.distance * std::int64_t(sizeof(T)),
                                        (last - first) * c.tap_count() * c.depth,
                                        tile - part.first_tile, part.last_tile - part.first_tile)
                        : next_tile(c, cells, R, last - first);
            for (std::int64_t block = first; block < last; ++block) {
                const T* panel = panels + block * all.distance;
                const std::int64_t left = c.width - block * N;
                const std::int64_t column = part.group * c.width + block * N;
                if (all.in_place) ahead = all.rows_ahead(panel);
                if (has_narrow_panel<L, V>(left))
                    gather_tile<T, L, R, 1>(c, cells, runs, count, panel, all.stride, column, left,
                                            partial, ahead);
                else
                    gather_tile<T, L, R, V>(c, cells, runs, count, panel, all.stride, column,
                                            left < N ? left : N, partial, ahead);
            }
            if (c.epilogue) {
                const std::int64_t end = last * N < c.width ? last * N : c.width;
                apply_epilogue(c, cells, part.group * c.width + first * N, end - first * N);
            }
        }
    }
}

/// Whether the threads share the panels, and not the tiles: where there are more weights than
/// sources, so that each thread reads a part of the larger, unless that would leave more of them
/// idle.
template <class T>
bool divides_panels(const GatherConv<T>& c, std::int64_t tiles, std::int64_t blocks,
                    std::int64_t threads) {
    if (threads == 1 || c.groups > 1) return false;
    const auto longest = [&](std::int64_t parts) { return (parts + threads - 1) / threads; };
    // Compared as shares of the whole.
    const std::int64_t by_tiles = longest(tiles) * blocks, by_blocks = longest(blocks) * tiles;
    return panels_outweigh(c) ? by_blocks * 16 <= by_tiles * 17 : by_blocks * 17 < by_tiles * 16;
}

/// All tiles against all panels, in pieces for the thread that is free; how many parts the tiles
/// were cut into.
template <class T, int L, int R, int V>
std::int64_t gather_pieces(const GatherConv<T>& c, const Tiling<T>& tiling,
                           const Panels<T, V * L>& panels, ThreadTeam& team) {
    const std::int64_t tiles = tiling.tiles(), blocks = panels.blocks;
    const std::int64_t most = ThreadTeam::most_pieces(team.size());
    if (divides_panels(c, tiles, blocks, team.size())) {
        const std::int64_t cuts = blocks < most ? blocks : most;
        team.for_each(cuts, [&](std::int64_t piece, int thread) {
            gather_tiles<T, L, R, V>(c, tiling, panels,
                                     {0, tiles, 0, team.begin_of_piece(piece, cuts, blocks),
                                      team.begin_of_piece(piece + 1, cuts, blocks), 0},
                                     thread);
        });
        return 1;
    }
    // A thread's tiles pass as much of the panels as the second cache holds before the next, and
    // fewer tiles at a time would read panels more often.
    const std::int64_t step = team.size() == 1 ? blocks : panels.together;
    const std::int64_t steps = (blocks + step - 1) / step, all = c.groups * steps;
    const std::int64_t wanted = team.size() * ((most / team.size() + all - 1) / all);
    const std::int64_t ranges = tiles < wanted ? tiles : wanted;
    team.for_each(ranges * all, [&](std::int64_t piece, int thread) {
        const std::int64_t range = piece / all, first = piece % steps * step;
        gather_tiles<T, L, R, V>(
            c, tiling, panels,
            {team.begin_of_piece(range, ranges, tiles),
             team.begin_of_piece(range + 1, ranges, tiles), piece % all / steps, first,
             first + step < blocks ? first + step : blocks, range},
            thread);
    });
    return ranges;
}

template <class T, int L, int R, int V>
void gather_with_tile(const GatherConv<T>& c, ThreadTeam& team) {
    constexpr int N = V * L;
    const Tiling<T> tiling(c, R);
    const Panels<T, N> panels(c, tiling.tiles());
    for (std::int64_t d = 0; d < c.depth; ++d)
        c.zeros[d] = T(0);
    const std::int64_t blocks = panels.blocks;
    team.for_pieces(panels.to_pack ? c.groups * blocks : 0, panels_together<T, N>(),
                    [&](std::int64_t from, std::int64_t to, int) {
                        pack_panels<T, N>(c, blocks, from, to, c.panels);
                    });
    const std::int64_t places = gather_pieces<T, L, R, V>(c, tiling, panels, team);
    if (!c.statistics) return;
    add_up_pieces(c.partial_statistics, 2 * c.output_pixel(), places, c.partial_stride, team);
    total_statistics(c.statistics, c.output_pixel(), c.bias, 1,
                     [&](int) { return c.partial_statistics; });
}

/// The rows of a tile, of those that are compiled, that compute least beside the wanted cells; the
/// most of equals. Doubles, which are for checks, have one.
template <class T, int L, int V>
void gather_with_columns(const GatherConv<T>& c, ThreadTeam& team) {
    if constexpr (sizeof(T) == sizeof(float)) {
        const std::int64_t cells = c.cells();
        if (cells == 1) return gather_with_tile<T, L, 1, V>(c, team);
        if (cells <= 4) return gather_with_tile<T, L, 4, V>(c, team);
        if constexpr (kTileRows == 8) {
            // Seven rows load more for what they compute.
            const auto computed = [&](std::int64_t rows) {
                return (cells + rows - 1) / rows * rows;
            };
            if (computed(7) * 33 < computed(8) * 32) return gather_with_tile<T, L, 7, V>(c, team);
        }
    }
    gather_with_tile<T, L, kTileRows, V>(c, team);
}

/// Runs it with the tile that suits the width.
template <class T>
void gather(const GatherConv<T>& c, ThreadTeam& team) {
    constexpr int L = kLanes<T>;
    const GatherBlock block = gather_block(c.width, sizeof(T), kVectorBytes);
    if constexpr (L > 4) {
        if (block.lanes < L) return gather_with_columns<T, L / 2, 1>(c, team);
    }
    if (block.vectors == 1) return gather_with_columns<T, L, 1>(c, team);
    if constexpr (kTileVectors > 2) {
        if (block.vectors == kTileVectors) return gather_with_columns<T, L, kTileVectors>(c, team);
    }
    gather_with_columns<T, L, 2>(c, team);
}

template <class T>
void place(GatherConv<T>& c, const GatherWorkspace& layout, Workspace workspace) {
    c.panels = reinterpret_cast<T*>(workspace.data());
    c.zeros = reinterpret_cast<T*>(workspace.data() + layout.zeros);
    c.taps = workspace.data() + layout.taps;
    c.taps_per_thread = layout.taps_per_thread;
    c.results_to_memory = c.cells() * c.output_pixel() * std::int64_t(sizeof(T)) > 4 * kCachedBytes;
}

/// The rows that conv2d gathers.
template <class T>
GatherConv<T> gather_of(const ConvShape& s, const T* src) {
    GatherConv<T> c;
    c.y = {s.height, s.out_height, s.kernel_height, s.stride_height, -s.pad_top, s.dilation_height,
           1};
    c.x = {s.width, s.out_width, s.kernel_width, s.stride_width, -s.pad_left, s.dilation_width, 1};
    c.batch = s.batch;
    c.groups = s.groups;
    c.depth = s.group_channels();
    c.width = s.group_filters();
    c.src = src;
    return c;
}

/// conv2d as rows that are gathered; the workspace is not set.
template <class T>
GatherConv<T> forward_gather(const Conv2dArguments<T>& a) {
    GatherConv<T> c = gather_of(a.shape, a.src);
    c.dst = a.dst;
    c.bias = a.bias;
    c.residual = a.residual;
    c.relu = a.relu;
    if (a.written) c.epilogue = &a.epilogue;
    c.statistics = a.statistics;
    c.weights = a.weights;
    if (a.strides.block > 0) c.packed = a.weights;
    return c;
}

/// The same for conv2d_backward_data.
template <class T>
GatherConv<T> backward_data_gather(const Conv2dBackwardDataArguments<T>& a) {
    const ConvShape& s = a.shape;
    GatherConv<T> c;
    c.y = {s.out_height,
           s.height,
           s.kernel_height,
           1,
           s.pad_top - (s.kernel_height - 1) * s.dilation_height,
           s.dilation_height,
           s.stride_height};
    c.x = {s.out_width,
           s.width,
           s.kernel_width,
           1,
           s.pad_left - (s.kernel_width - 1) * s.dilation_width,
           s.dilation_width,
           s.stride_width};
    c.batch = s.batch;
    c.groups = s.groups;
    c.depth = s.group_filters();
    c.width = s.group_channels();
    c.src = a.diff_dst;
    c.dst = a.diff_src;
    c.mask = a.mask;
    c.bias = a.bias;
    c.relu = a.relu;
    c.weights = a.weights;
    c.transposed = true;
    return c;
}

template <class T>
void gather_forward(const Conv2dArguments<T>& a, ThreadTeam& team) {
    GatherConv<T> c = forward_gather(a);
    const GatherWorkspace layout(a.shape, c.depth, c.width, sizeof(T), team.size(),
                                 a.statistics != nullptr, c.packed != nullptr);
    place(c, layout, a.workspace);
    if (a.statistics) {
        c.partial_statistics = reinterpret_cast<double*>(a.workspace.data() + layout.statistics);
        c.partial_stride = round_up(2 * a.shape.filters * 8, 64) / 8;
    }
    gather(c, team);
}

template <class T>
void gather_backward_data(const Conv2dBackwardDataArguments<T>& a, ThreadTeam& team) {
    GatherConv<T> c = backward_data_gather(a);
    place(c, GatherWorkspace(a.shape, c.depth, c.width, sizeof(T), team.size(), false),
          a.workspace);
    gather(c, team);
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
