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
/// Many taps and channels: the threads divide these, and every element is summed in the order of
/// the cells. Few: the threads divide the cells, or both (OuterWorkspace), and the sums of slices
/// of the cells are added in their order. Error bound: cells * epsilon * sum of |products|.
/// diff_bias is summed in double.

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/conv/outer_panels.hpp"
#include "kernels/cpu/piece_sums.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// A thread's part of the workspace.
template <class T>
struct OuterScratch {
    OuterCells<T> cells;
    T* edges = nullptr;
    T* panel = nullptr;
    T* filters = nullptr;
};

/// body(R) for the narrowest tile that has so many rows, the number as a constant.
template <class Body>
DTNN_INLINE void with_rows(std::int64_t rows, Body&& body) {
    constexpr int kThird = kOuterRows / 3;
    if (rows > 2 * kThird)
        body(std::integral_constant<int, kOuterRows>{});
    else if (rows > kThird)
        body(std::integral_constant<int, 2 * kThird>{});
    else
        body(std::integral_constant<int, kThird>{});
}

/// The panels with which a block of cells is worked on.
template <class T>
struct OuterBlock {
    const Conv2dBackwardWeightsArguments<T>* a = nullptr;
    OuterScratch<T>* scratch = nullptr;
    std::int64_t cell = 0, stop = 0;  ///< output cells
    T* weights = nullptr;
    bool overwrite = false;
    OuterAhead* ahead = nullptr;
};

/// body(segment, first row, rows) for panels [from, to) of a group; the cells of the segment are
/// listed.
template <class T, class Body>
void for_panels(const OuterBlock<T>& block, const OuterCut& cut, std::int64_t group,
                std::int64_t from, std::int64_t to, Body&& body) {
    const ConvShape& s = block.a->shape;
    const std::int64_t per_segment = cut.per_segment();
    std::int64_t listed = -1;
    OuterSegment segment;
    for (std::int64_t item = from < 0 ? 0 : from; item < to && item < cut.panels(); ++item) {
        if (item / per_segment != listed) {
            listed = item / per_segment;
            segment = cut.segment(s, listed);
            list_cells(*block.a, block.cell, block.stop, segment, group, block.scratch->edges,
                       block.scratch->cells);
        }
        const std::int64_t first = item % per_segment * cut.panel_rows;
        const std::int64_t left = segment.length - first;
        body(segment, first, left < cut.panel_rows ? left : cut.panel_rows);
    }
}

/// Panels [from, to) of a group.
template <class T>
void outer_group(const OuterBlock<T>& block, const OuterCut& cut, std::int64_t group,
                 std::int64_t from, std::int64_t to) {
    const ConvShape& s = block.a->shape;
    OuterScratch<T>& scratch = *block.scratch;
    for (std::int64_t f = 0; f < s.group_filters(); f += OuterWorkspace::kMostColumns) {
        const std::int64_t left = s.group_filters() - f;
        const std::int64_t column = group * s.group_filters() + f;
        OuterColumns<T> filters;
        pack_filters(block.a->diff_dst + block.cell * s.filters + column, block.stop - block.cell,
                     s.filters,
                     left < OuterWorkspace::kMostColumns ? left : OuterWorkspace::kMostColumns,
                     to - from, scratch.filters, filters);
        for_panels(block, cut, group, from, to,
                   [&](const OuterSegment& segment, std::int64_t first, std::int64_t rows) {
                       T* at = block.weights + (segment.first + first) * s.filters + column;
                       with_rows(rows, [&](auto r) {
                           outer_row_panel<T, r>(scratch.cells, filters, first, rows, scratch.panel,
                                                 at, s.filters, block.overwrite, *block.ahead);
                       });
                   });
    }
}

/// The same with turned tiles. The filters fill one panel or two.
template <class T>
void outer_group_turned(const OuterBlock<T>& block, const OuterCut& cut, std::int64_t group,
                        std::int64_t from, std::int64_t to) {
    constexpr int L = kLanes<T>;
    const ConvShape& s = block.a->shape;
    OuterScratch<T>& scratch = *block.scratch;
    const std::int64_t cells = block.stop - block.cell;
    const std::int64_t column = group * s.group_filters();
    const auto for_filters = [&](auto&& body) {
        T* panel = scratch.filters;
        for (std::int64_t f = 0; f < s.group_filters(); f += kOuterRows) {
            const std::int64_t left = s.group_filters() - f;
            with_rows(left, [&](auto r) {
                body(r, f, left < r ? left : std::int64_t(r), panel);
                panel += cells * r;
            });
        }
    };
    for_filters([&](auto r, std::int64_t f, std::int64_t rows, T* panel) {
        pack_columns<T, r>(block.a->diff_dst + block.cell * s.filters + column + f, cells,
                           s.filters, rows, panel);
    });
    // Rows that are read once or twice, in whole vectors, are not packed.
    const bool in_place = s.group_filters() <= 2 * kOuterRows && cut.length % L == 0;
    for_panels(block, cut, group, from, to,
               [&](const OuterSegment& segment, std::int64_t first, std::int64_t channels) {
                   T* at = block.weights + (segment.first + first) * s.filters + column;
                   const auto tiles = [&](auto vectors, auto form) {
                       if (form == OuterForm::turned)
                           pack_rows<T, L * vectors>(scratch.cells, first, channels, scratch.panel);
                       for_filters([&](auto r, std::int64_t f, std::int64_t rows, const T* panel) {
                           outer_tile<T, L, r, vectors, form>(
                               scratch.cells, panel, scratch.panel, L * vectors, at + f, s.filters,
                               rows, channels, block.overwrite, block.ahead->next(), first);
                       });
                   };
                   constexpr std::integral_constant<int, 1> one;
                   constexpr std::integral_constant<int, 2> two;
                   constexpr std::integral_constant<OuterForm, OuterForm::turned> packed;
                   constexpr std::integral_constant<OuterForm, OuterForm::turned_in_place> rows;
                   if (channels <= L)
                       in_place ? tiles(one, rows) : tiles(one, packed);
                   else
                       in_place ? tiles(two, rows) : tiles(two, packed);
               });
}

/// Adds panels [begin, end) of (group, segment, panel).
template <class T>
void outer_block(const OuterBlock<T>& block, const OuterCut& cut, std::int64_t begin,
                 std::int64_t end) {
    for (std::int64_t group = begin / cut.panels(); group * cut.panels() < end; ++group) {
        const std::int64_t before = group * cut.panels();
        if (cut.turned)
            outer_group_turned(block, cut, group, begin - before, end - before);
        else
            outer_group(block, cut, group, begin - before, end - before);
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

/// The operands to ask for ahead: those of the block that begins at `cell`, for a thread with so
/// many panels of rows.
template <class T>
OuterAhead block_behind(const Conv2dBackwardWeightsArguments<T>& a, const OuterCut& cut,
                        std::int64_t cell, std::int64_t end, std::int64_t panels) {
    const ConvShape& s = a.shape;
    OuterAhead ahead;
    ahead.ahead.at = reinterpret_cast<const char*>(a.diff_dst);
    const std::int64_t left = end - cell;
    if (left <= 0 || panels <= 0) return ahead;
    const std::int64_t cells =
        left < OuterWorkspace::kBlockCells ? left : OuterWorkspace::kBlockCells;
    // With other strides than 1, what of the source is read does not lie side by side.
    const bool whole = s.height == s.out_height && s.width == s.out_width;
    const std::int64_t source = whole ? cells * s.channels * std::int64_t(sizeof(T)) : 0;
    const std::int64_t diff = cells * s.filters * std::int64_t(sizeof(T));
    const std::int64_t wide = cut.turned ? kOuterRows : 2 * kLanes<T>;
    const std::int64_t tiles = panels * ((s.group_filters() + wide - 1) / wide);
    ahead.tiles = tiles * source / (source + diff);
    ahead.ahead.step = (source + diff) / (tiles * OuterWorkspace::kBlockCells) + 1;
    ahead.ahead.at = reinterpret_cast<const char*>(a.src + cell * s.channels);
    ahead.second = reinterpret_cast<const char*>(a.diff_dst + cell * s.filters);
    return ahead;
}

/// The first cell of slice `slice` of `slices`: that of a block where a slice has several.
inline std::int64_t begin_of_slice(std::int64_t cells, std::int64_t slice, std::int64_t slices,
                                   const ThreadTeam& team) {
    constexpr std::int64_t kBlock = OuterWorkspace::kBlockCells;
    const std::int64_t blocks = (cells + kBlock - 1) / kBlock;
    if (slice == slices) return cells;
    return blocks < 4 * slices ? team.begin_of_piece(slice, slices, cells)
                               : team.begin_of_piece(slice, slices, blocks) * kBlock;
}

/// Panels [from, to) over cells [begin, end) into `weights`; part `part` of `parts` adds every so
/// many-th block of diff_dst to `bias`.
template <class T>
struct OuterPiece {
    std::int64_t begin, end, from, to, part, parts;
    T* weights;
    double* bias;
};

template <class T>
void outer_piece(const Conv2dBackwardWeightsArguments<T>& a, const OuterCut& cut,
                 OuterScratch<T>& scratch, const OuterPiece<T>& piece) {
    const ConvShape& s = a.shape;
    for (std::int64_t f = 0; a.diff_bias && f < s.filters; ++f)
        piece.bias[f] = 0;
    std::int64_t number = 0;
    for (std::int64_t at = piece.begin; at < piece.end || number == 0; ++number) {
        const std::int64_t limit = at + OuterWorkspace::kBlockCells;
        const std::int64_t stop = limit < piece.end ? limit : piece.end;
        OuterAhead ahead = block_behind(a, cut, stop, piece.end, piece.to - piece.from);
        const OuterBlock<T> block{&a, &scratch, at, stop, piece.weights, number == 0, &ahead};
        outer_block(block, cut, piece.from, piece.to);
        if (a.diff_bias && number % piece.parts == piece.part)
            sum_columns(a.diff_dst + at * s.filters, stop - at, s.filters, piece.bias);
        at = stop;
    }
}

template <class T>
void outer_backward_weights(const Conv2dBackwardWeightsArguments<T>& a, ThreadTeam& team) {
    const ConvShape& s = a.shape;
    const OuterWorkspace layout(s, sizeof(T), team.size());
    const OuterCut cut(s, kLanes<T>);
    const std::int64_t items = s.groups * cut.panels();
    const auto place = [&](std::int64_t offset) { return a.workspace.data() + offset; };
    auto* const partials = reinterpret_cast<T*>(place(layout.partials));
    const std::int64_t distance = layout.partials_per_slice / std::int64_t(sizeof(T));
    auto* const bias = reinterpret_cast<double*>(place(layout.bias));
    const std::int64_t pieces = layout.slices * layout.parts;
    team.for_each(pieces, [&](std::int64_t piece, int thread) {
        const std::int64_t own = thread * layout.scratch_per_thread;
        OuterScratch<T> scratch;
        scratch.cells.rows = reinterpret_cast<const T**>(place(own));
        scratch.cells.places = reinterpret_cast<std::int32_t*>(place(own + layout.places));
        scratch.edges = reinterpret_cast<T*>(place(own + layout.edges));
        scratch.panel = reinterpret_cast<T*>(place(own + layout.panel));
        scratch.filters = reinterpret_cast<T*>(place(own + layout.filters));
        const std::int64_t slice = piece % layout.slices, part = piece / layout.slices;
        outer_piece<T>(
            a, cut, scratch,
            {begin_of_slice(s.out_pixels(), slice, layout.slices, team),
             begin_of_slice(s.out_pixels(), slice + 1, layout.slices, team),
             items * part / layout.parts, items * (part + 1) / layout.parts, part, layout.parts,
             layout.slices > 1 ? partials + slice * distance : a.diff_weights,
             bias + piece * layout.bias_per_piece / 8});
    });
    if (layout.slices > 1) {
        team.for_pieces(s.weight_elements(), 256, [&](std::int64_t begin, std::int64_t end, int) {
            for (std::int64_t i = begin; i < end; ++i)
                a.diff_weights[i] = partials[i];
            for (std::int64_t slice = 1; slice < layout.slices; ++slice) {
                const T* const others = partials + slice * distance;
                for (std::int64_t i = begin; i < end; ++i)
                    a.diff_weights[i] += others[i];
            }
        });
    }
    if (!a.diff_bias) return;
    add_up_pieces(bias, s.filters, pieces, layout.bias_per_piece / 8, team);
    for (std::int64_t f = 0; f < s.filters; ++f)
        a.diff_bias[f] = T(bias[f]);
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
