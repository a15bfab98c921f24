#pragma once
/// Convolution forward and backward to the data (gather_conv.hpp has the formula) with factors
/// rounded to bfloat16. Rows of the source are gathered, rounded, for kRoundedRows output cells at
/// a time, one tap behind the other, and multiplied by panels of rounded weights (bf16_blocks.hpp);
/// the end of a tile is that of gather_conv.hpp. Of a gradient with strides, the output cells are
/// divided into phases by the remainders of their places, and a phase has its own taps.

#include <cstdint>

#include "kernels/cpu/conv/bf16_blocks.hpp"
#include "kernels/cpu/conv/gather_conv.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Rows of a tile as finish_tile takes it.
#if defined(__AVX512F__)
inline constexpr int kRoundedTile = 8;
#else
inline constexpr int kRoundedTile = 4;
#endif
inline constexpr int kTilesOfGroup = int(kRoundedRows) / kRoundedTile;

/// The state that the threads of one run share.
struct RoundedConv {
    const GatherConv<float>* conv;
    const RoundedWorkspace* layout;
    Tiling<float> tiling;
    std::byte* workspace;

    std::int64_t phases() const { return tiling.step_y * tiling.step_x; }
    /// Groups of kTilesOfGroup tiles, of one phase each.
    std::int64_t groups() const {
        return phases() * ((tiling.tiles_per_phase + kTilesOfGroup - 1) / kTilesOfGroup);
    }
    /// Tile i of a group, or -1.
    std::int64_t tile(std::int64_t group, int i) const {
        const std::int64_t at = group / phases() * kTilesOfGroup + i;
        return at < tiling.tiles_per_phase ? at * phases() + group % phases() : -1;
    }
    void cells(std::int64_t group, int i, TileCells& cells) const {
        cells.count = 0;
        if (const std::int64_t at = tile(group, i); at >= 0) tiling.cells(*conv, at, cells);
    }

    Factor* at(std::int64_t offset) const { return reinterpret_cast<Factor*>(workspace + offset); }
};

/// Whether a tap of an axis falls on source cells for outputs of a phase.
inline bool reaches(const GatherAxis& axis, std::int64_t phase, std::int64_t tap) {
    return (axis.start(phase) + tap * axis.dilation) % axis.divide == 0;
}

/// The taps that a group's cells reach: first chunk of each in its rows, or -1; and for its chunks,
/// that of the panels. Returns how many chunks there are.
inline std::int64_t list_chunks(const RoundedConv& r, std::int64_t group, std::int32_t* order,
                                std::int32_t* first_of_tap) {
    const GatherConv<float>& c = *r.conv;
    const std::int64_t phase = group % r.phases(), each = r.layout->chunks_per_tap;
    std::int64_t count = 0;
    for (std::int64_t ky = 0; ky < c.y.taps; ++ky) {
        for (std::int64_t kx = 0; kx < c.x.taps; ++kx) {
            const std::int64_t tap = ky * c.x.taps + kx;
            first_of_tap[tap] = -1;
            if (!reaches(c.y, phase / r.tiling.step_x, ky) ||
                !reaches(c.x, phase % r.tiling.step_x, kx))
                continue;
            first_of_tap[tap] = std::int32_t(count);
            for (std::int64_t i = 0; i < each; ++i)
                order[count++] = std::int32_t(tap * each + i);
        }
    }
    return count;
}

/// Rounds the rows of a group into `chunks` chunks at `to`. `first_of_tap` is null where taps lie
/// one behind the other. False where the group has no cells.
inline bool round_group(const RoundedConv& r, std::int64_t group, std::int64_t chunks,
                        const std::int32_t* first_of_tap, TapRun<float>* runs, Factor* to) {
    const GatherConv<float>& c = *r.conv;
    bool any = false;
    for (int i = 0; i < kTilesOfGroup; ++i) {
        TileCells cells;
        r.cells(group, i, cells);
        any |= cells.count > 0;
        const std::int64_t count = cells.count > 0 ? list_taps(c, cells, kRoundedTile, 0, runs) : 0;
        for (int j = 0; j < kRoundedTile; ++j) {
            RoundedRow row{to + (i * kRoundedTile + j) * kDeep};
            for (std::int64_t run = 0; j < cells.count && run < count; ++run) {
                const float* from = runs[run].rows[j];
                if (first_of_tap == nullptr) {
                    row.fill_up(runs[run].first);
                    row.add(from, runs[run].length);
                    continue;
                }
                for (std::int64_t k = 0; k < runs[run].length; k += c.depth) {
                    row.fill_up(first_of_tap[(runs[run].first + k) / c.depth] * kDeep);
                    row.add(from + k, c.depth);
                }
            }
            row.fill_up(chunks * kDeep);
        }
    }
    return any;
}

/// The columns of weights that lie in rows: a panel of kPanelColumns, `columns` of them wanted.
inline void round_panel(const GatherConv<float>& c, const RoundedWorkspace& layout,
                        std::int64_t first, std::int64_t columns, Factor* panel) {
    constexpr int L = kLanes<float>;
    const std::int64_t taps = c.tap_count();
    const std::int64_t segments = layout.by_taps ? taps : 1;
    const std::int64_t length = layout.by_taps ? c.depth : taps * c.depth;
    for (std::int64_t segment = 0; segment < segments; ++segment) {
        const float* rows = c.weights + segment * length * c.width + first;
        const std::int64_t padded = round_up(length, kRoundedDepth);
        for (std::int64_t k = 0; k < padded; k += kPair, panel += kPair * kPanelColumns) {
            for (int v = 0; v < 2; ++v) {
                const std::int64_t left = k < length ? columns - v * L : 0;
                const std::int64_t count = left < 0 ? 0 : left < L ? left : L;
                const float* even = count > 0 ? rows + k * c.width + v * L : c.zeros;
                const bool alone = count == 0 || k + kPair - 1 >= length;
                const float* odd = alone ? c.zeros : even + (kPair - 1) * c.width;
                interleave(even, odd, count, panel + v * L * kPair);
            }
        }
    }
}

/// The same of transposed weights, whose taps are reversed: a column is a row of them at each tap.
/// `scratch` holds kPanelColumns times kRoundedDepth factors.
inline void round_transposed_panel(const GatherConv<float>& c, const RoundedWorkspace& layout,
                                   std::int64_t first, std::int64_t columns, Factor* scratch,
                                   Factor* panel) {
    constexpr int L = kLanes<float>;
    const std::int64_t taps = c.tap_count();
    const std::int64_t segments = layout.by_taps ? taps : 1;
    const std::int64_t length = layout.by_taps ? c.depth : taps * c.depth;
    for (std::int64_t segment = 0; segment < segments; ++segment) {
        for (std::int64_t k = 0; k < length; k += kDeep, panel += kPanelOfChunk) {
            const std::int64_t end = k + kDeep < length ? k + kDeep : length;
            for (std::int64_t j = 0; j < kPanelColumns; ++j) {
                Factor* to = scratch + j * kDeep;
                std::int64_t at = j < columns ? k : end;
                if (at == end || end - k < kDeep)
                    std::memset(to, 0, std::size_t(kDeep) * sizeof(Factor));
                while (at < end) {
                    const std::int64_t tap = layout.by_taps ? segment : at / c.depth;
                    const std::int64_t d = layout.by_taps ? at : at % c.depth;
                    const std::int64_t left = c.depth - d, some = end - at < left ? end - at : left;
                    round_some(c.weights + ((taps - 1 - tap) * c.width + first + j) * c.depth + d,
                               to + (at - k), some);
                    at += some;
                }
            }
            turn_into_panel(scratch, panel);
            turn_into_panel(scratch + L * kDeep, panel + L * kPair);
        }
    }
}

inline void round_panel_of(const RoundedConv& r, std::int64_t panel, Factor* scratch, Factor* to) {
    const GatherConv<float>& c = *r.conv;
    const std::int64_t first = panel * kPanelColumns;
    const std::int64_t columns = c.width - first < kPanelColumns ? c.width - first : kPanelColumns;
    if (c.transposed)
        round_transposed_panel(c, *r.layout, first, columns, scratch, to);
    else
        round_panel(c, *r.layout, first, columns, to);
}

/// Finishes the tiles of a group whose sums are made, for the columns of a panel.
inline void finish_group(const RoundedConv& r, std::int64_t group, std::int64_t column,
                         const float* sums, double* partial) {
    constexpr int L = kLanes<float>, R = kRoundedTile;
    const std::int64_t left = r.conv->width - column;
    for (int i = 0; i < kTilesOfGroup; ++i) {
        TileCells cells;
        r.cells(group, i, cells);
        if (cells.count == 0) continue;
        const float* from = sums + i * R * kPanelColumns;
        if (left > L) {
            Vector<float, L> all[R][2];
            unroll<R>([&](auto row) DTNN_UNROLLED {
                unroll<2>([&](auto v) DTNN_UNROLLED {
                    all[row][v] = load<float, L>(from + row * kPanelColumns + v * L);
                });
            });
            finish_tile<float, L, R, 2>(*r.conv, cells, column, left < 2 * L ? left : 2 * L, all,
                                        partial);
        } else {
            Vector<float, L> all[R][1];
            unroll<R>([&](auto row) DTNN_UNROLLED {
                all[row][0] = load<float, L>(from + row * kPanelColumns);
            });
            finish_tile<float, L, R, 1>(*r.conv, cells, column, left, all, partial);
        }
    }
}

/// The epilogue of a group's results in `columns` columns.
inline void rewrite_group(const RoundedConv& r, std::int64_t group, std::int64_t column,
                          std::int64_t columns) {
    for (int i = 0; i < kTilesOfGroup; ++i) {
        TileCells cells;
        r.cells(group, i, cells);
        if (cells.count > 0) apply_epilogue(*r.conv, cells, column, columns);
    }
}

inline double* partial_of(const GatherConv<float>& c, std::int64_t place) {
    return c.partial_statistics ? c.partial_statistics + place * c.partial_stride : nullptr;
}

/// Groups [begin, end) of rows by all panels, which are packed. `place` is whose statistics they go
/// to.
inline void multiply_groups(const RoundedConv& r, std::int64_t begin, std::int64_t end, int thread,
                            std::int64_t place) {
    const GatherConv<float>& c = *r.conv;
    const RoundedWorkspace& w = *r.layout;
    auto* runs = reinterpret_cast<TapRun<float>*>(c.taps + thread * c.taps_per_thread);
    auto* sums = reinterpret_cast<float*>(r.workspace + w.sums + thread * w.sums_per_thread);
    auto* order =
        reinterpret_cast<std::int32_t*>(r.workspace + w.order + thread * w.order_per_thread);
    std::int32_t* first_of_tap = w.by_taps ? order + w.chunks : nullptr;
    if (!w.by_taps) order = nullptr;
    Factor* const rows = r.at(w.rows + thread * w.rows_per_thread);
    const std::int64_t group_size = w.group_bytes / std::int64_t(sizeof(Factor));
    // Groups of a block are of one phase each, and phases follow each other: blocks are of one
    // phase where taps differ.
    const std::int64_t step = w.by_taps ? r.phases() : 1;
    begin_products();
    for (std::int64_t phase = 0; phase < step; ++phase) {
        std::int64_t chunks = w.chunks;
        if (w.by_taps) chunks = list_chunks(r, phase, order, first_of_tap);
        std::int64_t at = begin + (phase - begin % step + step) % step;
        for (; at < end; at += w.groups * step) {
            std::int64_t count = 0;
            for (; count < w.groups && at + count * step < end; ++count)
                round_group(r, at + count * step, chunks, first_of_tap, runs,
                            rows + count * group_size);
            for (std::int64_t panel = 0; panel < w.panels; ++panel) {
                const std::int64_t column = panel * kPanelColumns;
                for (std::int64_t i = 0; i < count; ++i) {
                    multiply_block(sums, rows + i * group_size, r.at(panel * w.panel_bytes), order,
                                   chunks, kRoundedRows, c.width - column);
                    finish_group(r, at + i * step, column, sums, partial_of(c, place));
                }
            }
            for (std::int64_t i = 0; c.epilogue && i < count; ++i)
                rewrite_group(r, at + i * step, 0, c.width);
        }
    }
    end_products();
}

/// All rows, which are rounded, by one panel.
inline void multiply_panel(const RoundedConv& r, std::int64_t panel, int thread) {
    const GatherConv<float>& c = *r.conv;
    const RoundedWorkspace& w = *r.layout;
    auto* sums = reinterpret_cast<float*>(r.workspace + w.sums + thread * w.sums_per_thread);
    Factor* const packed = r.at(thread * w.panels_per_thread);
    round_panel_of(r, panel, reinterpret_cast<Factor*>(sums), packed);
    const std::int64_t column = panel * kPanelColumns;
    const std::int64_t last = c.width - column < kPanelColumns ? c.width - column : kPanelColumns;
    begin_products();
    for (std::int64_t group = 0; group < w.groups; ++group) {
        const std::int64_t rest = c.cells() - group * kRoundedRows;
        const std::int64_t left = rest < kRoundedRows ? rest : kRoundedRows;
        multiply_block(sums, r.at(w.rows + group * w.group_bytes), packed, nullptr, w.chunks, left,
                       c.width - column);
        finish_group(r, group, column, sums, partial_of(c, thread));
        if (c.epilogue) rewrite_group(r, group, column, last);
    }
    end_products();
}

inline void round_and_multiply(GatherConv<float>& c, const RoundedWorkspace& w, Workspace workspace,
                               ThreadTeam& team) {
    c.zeros = reinterpret_cast<float*>(workspace.data() + w.zeros);
    c.taps = workspace.data() + w.taps;
    c.taps_per_thread = w.taps_per_thread;
    for (std::int64_t i = 0; i < w.zero_count; ++i)
        c.zeros[i] = 0;
    if (c.statistics) {
        c.partial_statistics = reinterpret_cast<double*>(workspace.data() + w.statistics);
        c.partial_stride = round_up(2 * c.width * 8, 64) / 8;
        for (std::int64_t i = 0; i < team.size() * c.partial_stride; ++i)
            c.partial_statistics[i] = 0;
    }
    const RoundedConv r{&c, &w, Tiling<float>(c, kRoundedTile, false), workspace.data()};
    if (w.divides_panels) {
        team.for_each(w.groups, [&](std::int64_t group, int thread) {
            round_group(r, group, w.chunks, nullptr,
                        reinterpret_cast<TapRun<float>*>(c.taps + thread * c.taps_per_thread),
                        r.at(w.rows + group * w.group_bytes));
        });
        team.for_each(w.panels,
                      [&](std::int64_t panel, int thread) { multiply_panel(r, panel, thread); });
    } else {
        team.for_each(w.panels, [&](std::int64_t panel, int thread) {
            round_panel_of(
                r, panel,
                reinterpret_cast<Factor*>(workspace.data() + w.sums + thread * w.sums_per_thread),
                r.at(panel * w.panel_bytes));
        });
        const std::int64_t all = r.groups();
        if (c.statistics) {
            team.run([&](int member) {
                multiply_groups(r, all * member / team.size(), all * (member + 1) / team.size(),
                                member, member);
            });
        } else {
            const std::int64_t share = all / (std::int64_t{4} * team.size()) + 1;
            const std::int64_t grain =
                (share < w.groups ? share : w.groups) * (w.by_taps ? r.phases() : 1);
            team.for_each((all + grain - 1) / grain, [&](std::int64_t piece, int thread) {
                const std::int64_t end = (piece + 1) * grain;
                multiply_groups(r, piece * grain, end < all ? end : all, thread, thread);
            });
        }
    }
    if (c.statistics)
        total_statistics(c.statistics, c.width, c.bias, team.size(),
                         [&](int member) { return partial_of(c, member); });
}

inline void rounded_forward(const Conv2dArguments<float>& a, ThreadTeam& team) {
    GatherConv<float> c = forward_gather(a);
    const RoundedWorkspace layout(a.shape, c.depth, c.width, c.cells(), false,
                                  {kPanelColumns, sizeof(Factor)}, team.size(),
                                  a.statistics != nullptr);
    round_and_multiply(c, layout, a.workspace, team);
}

inline void rounded_backward_data(const Conv2dBackwardDataArguments<float>& a, ThreadTeam& team) {
    GatherConv<float> c = backward_data_gather(a);
    const RoundedWorkspace layout(a.shape, c.depth, c.width, c.cells(),
                                  a.shape.stride_height > 1 || a.shape.stride_width > 1,
                                  {kPanelColumns, sizeof(Factor)}, team.size(), false);
    round_and_multiply(c, layout, a.workspace, team);
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
