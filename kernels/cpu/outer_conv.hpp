#pragma once
/// Convolution backward to the weights as sums of outer products: diff_weights[tap, c, f] += src
/// row (c) times diff_dst row (f) over the output cells whose tap is inside the image.
///
/// Cells are taken in blocks. Of a block, the rows of diff_dst are packed once into panels of two
/// vectors of filters, which stay in the second cache; then, for every tap, the inside cells are
/// listed, a panel of some channels of their src rows is packed into the first cache, and register
/// tiles of both run over the list. So nothing is read with a stride, and tails are zeros in a
/// panel. Of few channels the taps of a kernel row, which lie side by side in the image, count as
/// one tap with more channels; cells at the image's edges then read a row with zeros in it.
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

/// Rows of the widest tile, a multiple of three: narrower ones have a third and two thirds of them.
#if defined(__AVX512F__)
inline constexpr int kOuterRows = 12;
#else
inline constexpr int kOuterRows = 6;
#endif
static_assert(kOuterRows <= OuterWorkspace::kMostRows);

/// Cells of a block for which a segment has a row: of the source, and the place in the block.
template <class T>
struct OuterCells {
    const T** rows = nullptr;
    std::int32_t* places = nullptr;
    std::int64_t count = 0;
    bool readable = false;  ///< kOuterRows values behind every row, too
};

/// Rows of diff_weights that follow each other, and are a contiguous row of the source for every
/// cell: the channels of a tap, or those of all taps of a kernel row.
struct OuterSegment {
    std::int64_t first = 0;   ///< row of diff_weights
    std::int64_t length = 0;  ///< rows
    std::int64_t kh = 0, kw = 0;
    bool kernel_row = false;
};

inline std::int64_t outer_panels(std::int64_t length) {
    return (length + kOuterRows - 1) / kOuterRows;
}

/// How the rows of diff_weights of a group are cut.
struct OuterCut {
    std::int64_t segments = 0, length = 0;
    bool kernel_rows = false;

    explicit OuterCut(const ConvShape& s) {
        kernel_rows = OuterWorkspace::joins_taps(s);
        segments = kernel_rows ? s.kernel_height : s.taps();
        length = s.group_channels() * (kernel_rows ? s.kernel_width : 1);
    }
    /// Panels of a group.
    std::int64_t panels() const { return segments * outer_panels(length); }
    OuterSegment segment(const ConvShape& s, std::int64_t number) const {
        return {number * length, length, kernel_rows ? number : number / s.kernel_width,
                kernel_rows ? 0 : number % s.kernel_width, kernel_rows};
    }
};

/// A row of a segment at the left or right edge of the image: zeros stand for what is outside.
template <class T>
void copy_edge_row(const T* line, std::int64_t from_w, const ConvShape& s, T* to) {
    for (std::int64_t kw = 0; kw < s.kernel_width; ++kw, to += s.channels) {
        const std::int64_t iw = from_w + kw;
        const bool inside = iw >= 0 && iw < s.width;
        for (std::int64_t c = 0; c < s.channels; ++c)
            to[c] = inside ? line[iw * s.channels + c] : T(0);
    }
}

/// Lists output cells [begin, end) that have a row of the segment. `edges` has room for a row of
/// every cell.
template <class T>
void list_cells(const Conv2dBackwardWeightsArguments<T>& a, std::int64_t begin, std::int64_t end,
                const OuterSegment& segment, std::int64_t group, T* edges, OuterCells<T>& cells) {
    const ConvShape& s = a.shape;
    cells.count = 0;
    cells.readable = segment.kernel_row;
    std::int64_t line = begin / s.out_width;
    std::int64_t ow = begin % s.out_width;
    const std::int64_t from_w = segment.kw * s.dilation_width - s.pad_left;
    const std::int64_t wide = segment.kernel_row ? s.kernel_width : 1;
    const T* last = a.src + s.pixels() * s.channels - segment.length - kOuterRows;
    for (std::int64_t cell = begin; cell < end; ++line, ow = 0) {
        const std::int64_t n = line / s.out_height;
        const std::int64_t oh = line % s.out_height;
        const std::int64_t stop = ow + end - cell < s.out_width ? ow + end - cell : s.out_width;
        const std::int64_t ih = oh * s.stride_height - s.pad_top + segment.kh * s.dilation_height;
        if (ih >= 0 && ih < s.height) {
            const T* src = a.src + (n * s.height + ih) * s.width * s.channels;
            for (std::int64_t w = ow; w < stop; ++w) {
                const std::int64_t iw = w * s.stride_width + from_w;
                if (iw + wide <= 0 || iw >= s.width) continue;
                const T* row = src + iw * s.channels + group * s.group_channels();
                // A panel may read past its row, but not past the image.
                if (iw < 0 || iw + wide > s.width || (segment.kernel_row && row >= last)) {
                    T* edge = edges + cells.count * (segment.length + kOuterRows);
                    copy_edge_row(src, iw, s, edge);
                    row = edge;
                }
                cells.rows[cells.count] = row;
                cells.places[cells.count] = std::int32_t(cell - begin + w - ow);
                ++cells.count;
            }
        }
        cell += stop - ow;
    }
}

/// panel[k][R]: `values` values of every row from `first` on, then zeros, or what lies behind the
/// row where that may be read.
template <class T, int R>
void pack_rows(const OuterCells<T>& cells, std::int64_t first, std::int64_t values, T* panel) {
    if (values == R || cells.readable) {
        for (std::int64_t k = 0; k < cells.count; ++k)
            std::memcpy(panel + k * R, cells.rows[k] + first, R * sizeof(T));
        return;
    }
    for (std::int64_t k = 0; k < cells.count; ++k) {
        const T* from = cells.rows[k] + first;
        for (std::int64_t r = 0; r < R; ++r)
            panel[k * R + r] = r < values ? from[r] : T(0);
    }
}

/// panel[k][N]: `columns` values of `count` rows, then zeros.
template <class T, int N>
void pack_columns(const T* rows, std::int64_t count, std::int64_t stride, std::int64_t columns,
                  T* panel) {
    if (columns == N) {
        for (std::int64_t k = 0; k < count; ++k)
            std::memcpy(panel + k * N, rows + k * stride, N * sizeof(T));
        return;
    }
    for (std::int64_t k = 0; k < count; ++k) {
        for (std::int64_t j = 0; j < N; ++j)
            panel[k * N + j] = j < columns ? rows[k * stride + j] : T(0);
    }
}

/// A tile: `rows` of R rows of diff_weights from `weights` on, `columns` of its V*L columns.
template <class T, int L, int R, int V>
void outer_tile(const OuterCells<T>& cells, const T* a_panel, const T* b_panel, T* weights,
                std::int64_t stride, std::int64_t rows, std::int64_t columns, bool overwrite,
                Ahead& ahead) {
    Vector<T, L> sums[R][V] = {};
    const T* a = a_panel;
    const char* wanted = ahead.at;
    const std::int64_t step = ahead.step;
    for (std::int64_t k = 0; k < cells.count; ++k, a += R, wanted += step) {
        __builtin_prefetch(wanted, 0, 2);
        const T* from = b_panel + std::int64_t(cells.places[k]) * (V * L);
        Vector<T, L> b[V];
        unroll<V>([&](auto v) DTNN_UNROLLED { b[v] = load<T, L>(from + v * L); });
        unroll<R>([&](auto r) DTNN_UNROLLED {
            const Vector<T, L> scalar = broadcast<T, L>(a[r]);
            unroll<V>([&](auto v) DTNN_UNROLLED { sums[r][v] += scalar * b[v]; });
        });
    }
    ahead.at = wanted;
    if (rows == R && columns == V * L) {
        unroll<R>([&](auto r) DTNN_UNROLLED {
            unroll<V>([&](auto v) DTNN_UNROLLED {
                T* at = weights + r * stride + v * L;
                store<T, L>(at, overwrite ? sums[r][v] : sums[r][v] + load<T, L>(at));
            });
        });
        return;
    }
    T values[R][V * L];
    unroll<R>([&](auto r) DTNN_UNROLLED {
        unroll<V>([&](auto v) DTNN_UNROLLED { store<T, L>(&values[r][v * L], sums[r][v]); });
    });
    for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t j = 0; j < columns; ++j) {
            T& at = weights[r * stride + j];
            at = overwrite ? values[r][j] : at + values[r][j];
        }
    }
}

/// The rows of both operands that the next block of cells reads, spread over the tiles of a block:
/// of the source first, then of diff_dst.
struct OuterAhead {
    Ahead ahead;
    const char* second = nullptr;
    std::int64_t tiles = 0;  ///< that are left for the first of them

    Ahead& next() {
        if (tiles-- == 0) ahead.at = second;
        return ahead;
    }
};

/// The packed filters of a block of cells: whole panels of two vectors, and one of one where no
/// more than that is left.
template <class T>
struct OuterColumns {
    const T* panels = nullptr;
    std::int64_t count = 0;    ///< rows of a panel
    std::int64_t columns = 0;  ///< of all panels
};

/// One panel of R rows against all panels of filters.
template <class T, int R>
void outer_row_panel(const OuterCells<T>& cells, const OuterColumns<T>& b, std::int64_t first,
                     std::int64_t rows, T* panel, T* weights, std::int64_t stride, bool overwrite,
                     OuterAhead& ahead) {
    constexpr int L = kLanes<T>;
    pack_rows<T, R>(cells, first, rows, panel);
    const T* from = b.panels;
    std::int64_t f = 0;
    for (; b.columns - f > L; f += 2 * L, from += b.count * 2 * L) {
        const std::int64_t left = b.columns - f;
        outer_tile<T, L, R, 2>(cells, panel, from, weights + f, stride, rows,
                               left < 2 * L ? left : 2 * L, overwrite, ahead.next());
    }
    if (f < b.columns)
        outer_tile<T, L, R, 1>(cells, panel, from, weights + f, stride, rows, b.columns - f,
                               overwrite, ahead.next());
}

template <class T>
void pack_filters(const T* rows, std::int64_t count, std::int64_t stride, std::int64_t columns,
                  T* panels, OuterColumns<T>& packed) {
    constexpr int L = kLanes<T>;
    packed = {panels, count, columns};
    if (stride == columns && (columns == L || columns == 2 * L)) {
        packed.panels = rows;  // a panel as it is
        return;
    }
    std::int64_t f = 0;
    for (; columns - f > L; f += 2 * L, panels += count * 2 * L) {
        const std::int64_t left = columns - f;
        pack_columns<T, 2 * L>(rows + f, count, stride, left < 2 * L ? left : 2 * L, panels);
    }
    if (f < columns) pack_columns<T, L>(rows + f, count, stride, columns - f, panels);
}

/// What a thread works with.
template <class T>
struct OuterScratch {
    OuterCells<T> cells;
    T* edges = nullptr;
    T* panel = nullptr;
    T* filters = nullptr;
};

/// Adds panels [begin, end) of (group, segment, panel) over output cells [cell, stop) to `weights`.
template <class T>
void outer_block(const Conv2dBackwardWeightsArguments<T>& a, std::int64_t cell, std::int64_t stop,
                 std::int64_t begin, std::int64_t end, OuterScratch<T>& scratch, T* weights,
                 bool overwrite, OuterAhead& ahead) {
    const ConvShape& s = a.shape;
    const OuterCut cut(s);
    const std::int64_t per_segment = outer_panels(cut.length);
    for (std::int64_t group = begin / cut.panels(); group * cut.panels() < end; ++group) {
        const std::int64_t from = begin - group * cut.panels();
        const std::int64_t to = end - group * cut.panels();
        for (std::int64_t f = 0; f < s.group_filters(); f += OuterWorkspace::kMostColumns) {
            const std::int64_t left = s.group_filters() - f;
            const std::int64_t columns =
                left < OuterWorkspace::kMostColumns ? left : OuterWorkspace::kMostColumns;
            const std::int64_t column = group * s.group_filters() + f;
            OuterColumns<T> filters;
            pack_filters(a.diff_dst + cell * s.filters + column, stop - cell, s.filters, columns,
                         scratch.filters, filters);
            std::int64_t listed = -1;
            OuterSegment segment;
            for (std::int64_t item = from < 0 ? 0 : from; item < to && item < cut.panels();
                 ++item) {
                if (item / per_segment != listed) {
                    listed = item / per_segment;
                    segment = cut.segment(s, listed);
                    list_cells(a, cell, stop, segment, group, scratch.edges, scratch.cells);
                }
                const std::int64_t first = item % per_segment * kOuterRows;
                const std::int64_t rows = segment.length - first;
                T* at = weights + (segment.first + first) * s.filters + column;
                if (rows > kOuterRows / 3 * 2)
                    outer_row_panel<T, kOuterRows>(scratch.cells, filters, first,
                                                   rows < kOuterRows ? rows : kOuterRows,
                                                   scratch.panel, at, s.filters, overwrite, ahead);
                else if (rows > kOuterRows / 3)
                    outer_row_panel<T, kOuterRows / 3 * 2>(scratch.cells, filters, first, rows,
                                                           scratch.panel, at, s.filters, overwrite,
                                                           ahead);
                else
                    outer_row_panel<T, kOuterRows / 3>(scratch.cells, filters, first, rows,
                                                       scratch.panel, at, s.filters, overwrite,
                                                       ahead);
            }
        }
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

/// Of the block that begins at `cell`, for a thread with so many panels of rows.
template <class T>
OuterAhead block_behind(const Conv2dBackwardWeightsArguments<T>& a, std::int64_t cell,
                        std::int64_t end, std::int64_t panels) {
    const ConvShape& s = a.shape;
    OuterAhead ahead;
    ahead.ahead.at = reinterpret_cast<const char*>(a.diff_dst);
    const std::int64_t left = end - cell;
    if (left <= 0) return ahead;
    const std::int64_t cells =
        left < OuterWorkspace::kBlockCells ? left : OuterWorkspace::kBlockCells;
    // With other strides than 1, what of the source is read does not lie side by side.
    const bool whole = s.height == s.out_height && s.width == s.out_width;
    const std::int64_t source = whole ? cells * s.channels * std::int64_t(sizeof(T)) : 0;
    const std::int64_t diff = cells * s.filters * std::int64_t(sizeof(T));
    constexpr std::int64_t kColumns = 2 * kLanes<T>;
    const std::int64_t tiles = panels * ((s.group_filters() + kColumns - 1) / kColumns);
    ahead.tiles = tiles * source / (source + diff);
    ahead.ahead.step = (source + diff) / (tiles * OuterWorkspace::kBlockCells) + 1;
    ahead.ahead.at = reinterpret_cast<const char*>(a.src + cell * s.channels);
    ahead.second = reinterpret_cast<const char*>(a.diff_dst + cell * s.filters);
    return ahead;
}

template <class T>
void outer_backward_weights(const Conv2dBackwardWeightsArguments<T>& a, ThreadTeam& team) {
    const ConvShape& s = a.shape;
    const OuterWorkspace layout(s, sizeof(T), team.size());
    const std::int64_t cells = s.out_pixels();
    const std::int64_t items = s.groups * OuterCut(s).panels();
    const std::int64_t threads = team.size();
    const auto place = [&](std::int64_t offset) { return a.workspace.data() + offset; };
    const auto partial = [&](std::int64_t member) {
        return threads == 1 || !layout.divide_rows
                   ? a.diff_weights
                   : reinterpret_cast<T*>(
                         place(layout.partials + member * layout.partials_per_thread));
    };
    const auto bias = [&](std::int64_t member) {
        return reinterpret_cast<double*>(place(layout.bias + member * layout.bias_per_thread));
    };
    team.run([&](int member) {
        const std::int64_t own = member * layout.scratch_per_thread;
        OuterScratch<T> scratch;
        scratch.cells.rows = reinterpret_cast<const T**>(place(own));
        scratch.cells.places = reinterpret_cast<std::int32_t*>(place(own + layout.places));
        scratch.edges = reinterpret_cast<T*>(place(own + layout.edges));
        scratch.panel = reinterpret_cast<T*>(place(own + layout.panel));
        scratch.filters = reinterpret_cast<T*>(place(own + layout.filters));
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
        for (std::int64_t at = from; at < to || first; at += OuterWorkspace::kBlockCells) {
            const std::int64_t stop =
                at + OuterWorkspace::kBlockCells < to ? at + OuterWorkspace::kBlockCells : to;
            OuterAhead ahead = block_behind(a, stop, to, item_end - item_begin);
            outer_block(a, at, stop, item_begin, item_end, scratch, partial(member), first, ahead);
            first = false;
            // Where threads divide the panels, each adds up the blocks that begin among its cells.
            if (a.diff_bias && at >= begin && at < end)
                sum_columns(a.diff_dst + at * s.filters, stop - at, s.filters, bias(member));
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
