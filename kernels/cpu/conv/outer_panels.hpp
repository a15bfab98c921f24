#pragma once
/// The parts of outer_conv.hpp: how the rows of a gradient of weights are cut, which output cells
/// have a row of the source for them, panels of both operands, and the tiles that multiply these.

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/gemm_tile.hpp"
#include "kernels/workspace/conv.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Rows of the widest tile, a multiple of three: narrower ones have a third and two thirds of them.
inline constexpr int kOuterRows = kVectorRegisters == 32 ? 12 : 6;
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

/// How the rows of diff_weights of a group are cut. Where there are more channels than filters, and
/// these are few or fill no vectors of one panel or two, tiles are turned: vectors run along the
/// channels, and the filters are the tile's rows.
struct OuterCut {
    std::int64_t segments = 0, length = 0;
    bool kernel_rows = false, turned = false;
    std::int64_t panel_rows = kOuterRows;

    OuterCut(const ConvShape& s, std::int64_t lanes) {
        kernel_rows = OuterWorkspace::joins_taps(s);
        segments = kernel_rows ? s.kernel_height : s.taps();
        length = s.group_channels() * (kernel_rows ? s.kernel_width : 1);
        const std::int64_t filters = s.group_filters();
        const bool few = filters <= lanes || (filters <= 2 * kOuterRows && filters % lanes != 0);
        turned = few && filters < length && !kernel_rows;
        if (turned) panel_rows = 2 * lanes;
    }
    /// Panels of a segment, of a group.
    std::int64_t per_segment() const { return (length + panel_rows - 1) / panel_rows; }
    std::int64_t panels() const { return segments * per_segment(); }
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

constexpr std::int64_t clamped(std::int64_t value, std::int64_t least, std::int64_t most) {
    return value < least ? least : value > most ? most : value;
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
            const T* line_begin = a.src + (n * s.height + ih) * s.width * s.channels;
            const T* src = line_begin + group * s.group_channels();
            const std::int64_t place = cell - begin - ow;
            const auto add_edges = [&](std::int64_t from, std::int64_t to) {
                for (std::int64_t w = from; w < to; ++w) {
                    const std::int64_t iw = w * s.stride_width + from_w;
                    if (iw + wide <= 0 || iw >= s.width || wide == 1) continue;
                    T* edge = edges + cells.count * (segment.length + kOuterRows);
                    copy_edge_row(line_begin, iw, s, edge);
                    cells.rows[cells.count] = edge;
                    cells.places[cells.count] = std::int32_t(place + w);
                    ++cells.count;
                }
            };
            // Output cells whose row is inside the line.
            const std::int64_t inside =
                clamped((-from_w + s.stride_width - 1) / s.stride_width, ow, stop);
            const std::int64_t room = s.width - wide - from_w;
            std::int64_t outside = clamped(room < 0 ? 0 : room / s.stride_width + 1, inside, stop);
            // A panel may read past its row, but not past the image.
            while (segment.kernel_row && outside > inside &&
                   src + ((outside - 1) * s.stride_width + from_w) * s.channels >= last)
                --outside;
            add_edges(ow, inside);
            const T* row = src + (inside * s.stride_width + from_w) * s.channels;
            const std::int64_t step = s.stride_width * s.channels;
            const T** rows = cells.rows + cells.count;
            std::int32_t* places = cells.places + cells.count;
            for (std::int64_t i = 0; i < outside - inside; ++i)
                rows[i] = row + i * step;
            for (std::int64_t i = 0; i < outside - inside; ++i)
                places[i] = std::int32_t(place + inside + i);
            cells.count += outside - inside;
            add_edges(outside, stop);
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

/// Turned in place: the tile's columns are read from value `first` of the source's rows on,
/// unpacked.
enum class OuterForm { plain, turned, turned_in_place };

/// A tile: `rows` of R rows of diff_weights from `weights` on, `columns` of its V*L columns;
/// turned, `columns` of V*L rows and `rows` of R columns. Of the two panels the one of the source
/// follows the list of cells, that of diff_dst has their places; the rows of the one that is read
/// in vectors are `b_stride` elements apart.
template <class T, int L, int R, int V, OuterForm kForm>
void outer_tile(const OuterCells<T>& cells, const T* a_panel, const T* b_panel,
                std::int64_t b_stride, T* weights, std::int64_t stride, std::int64_t rows,
                std::int64_t columns, bool overwrite, Ahead& ahead, std::int64_t first = 0) {
    constexpr bool kTurned = kForm != OuterForm::plain;
    Vector<T, L> sums[R][V] = {};
    const char* wanted = ahead.at;
    const std::int64_t step = ahead.step;
    for (std::int64_t k = 0; k < cells.count; ++k, wanted += step) {
        __builtin_prefetch(wanted, 0, 2);
        const std::int64_t place = cells.places[k];
        const T* a = a_panel + (kTurned ? place : k) * R;
        const T* from = kForm == OuterForm::plain    ? b_panel + place * b_stride
                        : kForm == OuterForm::turned ? b_panel + k * b_stride
                                                     : cells.rows[k] + first;
        Vector<T, L> b[V];
        unroll<V>([&](auto v) DTNN_UNROLLED { b[v] = load<T, L>(from + v * L); });
        unroll<R>([&](auto r) DTNN_UNROLLED {
            const Vector<T, L> scalar = broadcast<T, L>(a[r]);
            unroll<V>([&](auto v) DTNN_UNROLLED { sums[r][v] += scalar * b[v]; });
        });
    }
    ahead.at = wanted;
    if (!kTurned && rows == R && columns == V * L) {
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
    if (kTurned) {
        for (std::int64_t j = 0; j < columns; ++j) {
            for (std::int64_t r = 0; r < rows; ++r) {
                T& at = weights[j * stride + r];
                at = overwrite ? values[r][j] : at + values[r][j];
            }
        }
        return;
    }
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

/// The filters of a block of cells as panels: whole ones of two vectors, and one of one where no
/// more than that is left. They are packed, or lie side by side in diff_dst as they are.
template <class T>
struct OuterColumns {
    const T* panels = nullptr;
    std::int64_t count = 0;    ///< rows of a panel
    std::int64_t columns = 0;  ///< of all panels
    std::int64_t stride = 0;   ///< between the rows of panels as they are; 0: packed
};

/// One panel of R rows against all panels of filters.
template <class T, int R>
void outer_row_panel(const OuterCells<T>& cells, const OuterColumns<T>& b, std::int64_t first,
                     std::int64_t rows, T* panel, T* weights, std::int64_t stride, bool overwrite,
                     OuterAhead& ahead) {
    constexpr int L = kLanes<T>;
    pack_rows<T, R>(cells, first, rows, panel);
    const T* from = b.panels;
    const std::int64_t step = b.stride > 0 ? 2 * L : b.count * 2 * L;
    std::int64_t f = 0;
    for (; b.columns - f > L; f += 2 * L, from += step) {
        const std::int64_t left = b.columns - f;
        outer_tile<T, L, R, 2, OuterForm::plain>(
            cells, panel, from, b.stride > 0 ? b.stride : 2 * L, weights + f, stride, rows,
            left < 2 * L ? left : 2 * L, overwrite, ahead.next());
    }
    if (f < b.columns)
        outer_tile<T, L, R, 1, OuterForm::plain>(cells, panel, from, b.stride > 0 ? b.stride : L,
                                                 weights + f, stride, rows, b.columns - f,
                                                 overwrite, ahead.next());
}

/// `passes`: how often the panels are read. Whole vectors that are read but a few times are not
/// packed.
template <class T>
void pack_filters(const T* rows, std::int64_t count, std::int64_t stride, std::int64_t columns,
                  std::int64_t passes, T* panels, OuterColumns<T>& packed) {
    constexpr int L = kLanes<T>;
    constexpr std::int64_t kFewPasses = 3;
    packed = {panels, count, columns};
    const bool is_panel = stride == columns && (columns == L || columns == 2 * L);
    if (is_panel || (passes <= kFewPasses && columns % L == 0)) {
        packed.panels = rows;
        packed.stride = stride;
        return;
    }
    std::int64_t f = 0;
    for (; columns - f > L; f += 2 * L, panels += count * 2 * L) {
        const std::int64_t left = columns - f;
        pack_columns<T, 2 * L>(rows + f, count, stride, left < 2 * L ? left : 2 * L, panels);
    }
    if (f < columns) pack_columns<T, L>(rows + f, count, stride, columns - f, panels);
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
