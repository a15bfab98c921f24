#pragma once
/// The gradient of a convolution's weights with factors rounded to bfloat16: for a block of output
/// pixels after the other, the rows that the forward pass gathers (bf16_conv.hpp), turned so that
/// the pixels are what is summed over, times panels of diff_dst. Sums over blocks, and of the bias,
/// are made in order; those of slices of the pixels are added in order in the end.

#include <cstdint>

#include "kernels/cpu/conv/bf16_conv.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

struct RoundedOuter {
    const Conv2dBackwardWeightsArguments<float>* arguments;
    const RoundedOuterWorkspace* layout;
    RoundedConv forward;  ///< its layout is not looked at
    const float* zeros;

    std::byte* at(std::int64_t offset) const { return forward.workspace + offset; }
    Factor* factors(std::int64_t offset) const { return forward.at(offset); }
    float* weights(std::int64_t slice) const {
        return layout->slices == 1 ? arguments->diff_weights
                                   : reinterpret_cast<float*>(
                                         at(layout->partials + slice * layout->partials_per_slice));
    }
    double* bias(std::int64_t slice) const {
        return reinterpret_cast<double*>(at(layout->bias + slice * layout->bias_per_slice));
    }
};

/// Output pixels [begin, begin + count), a slice's block; whether it is the first of the slice.
struct PixelBlock {
    std::int64_t slice, begin, count;
    bool first;

    std::int64_t chunks() const { return (count + kDeep - 1) / kDeep; }
};

/// Rounds one chunk of a block's pixels: of the source, and of diff_dst.
inline void round_pixels(const RoundedOuter& o, const PixelBlock& block, std::int64_t chunk,
                         int thread) {
    const RoundedOuterWorkspace& w = *o.layout;
    const ConvShape& s = o.arguments->shape;
    const std::int64_t first = block.begin + chunk * kDeep, chunks = block.chunks();
    auto* runs = reinterpret_cast<TapRun<float>*>(o.at(w.taps + thread * w.taps_per_thread));
    Factor* const gathered = o.factors(w.gathered + thread * w.gathered_per_thread);
    round_group(o.forward, first / kRoundedRows, w.chunks, nullptr, runs, gathered);
    Factor* const source = o.factors(block.slice * w.source_per_slice);
    for (std::int64_t i = 0; i < w.chunks; ++i)
        transpose_rows(gathered + i * kRowsOfChunk, source + (i * chunks + chunk) * kRowsOfChunk);
    constexpr int L = kLanes<float>;
    Factor* const filters = o.factors(w.filters + block.slice * w.filters_per_slice);
    const std::int64_t pixels = s.out_pixels();
    for (std::int64_t panel = 0; panel < w.panels; ++panel) {
        Factor* to = filters + (panel * chunks + chunk) * kPanelOfChunk;
        const std::int64_t column = panel * kPanelColumns;
        for (std::int64_t k = 0; k < kDeep; k += kPair, to += kPair * kPanelColumns) {
            for (int v = 0; v < 2; ++v) {
                const std::int64_t left = first + k < pixels ? s.filters - column - v * L : 0;
                const std::int64_t count = left < 0 ? 0 : left < L ? left : L;
                const float* even =
                    count > 0 ? o.arguments->diff_dst + (first + k) * s.filters + column + v * L
                              : o.zeros;
                const bool alone = count == 0 || first + k + kPair - 1 >= pixels;
                interleave(even, alone ? o.zeros : even + (kPair - 1) * s.filters, count,
                           to + v * L * kPair);
            }
        }
    }
}

/// Adds a block's products to kRoundedRows rows of the gradient.
inline void multiply_pixels(const RoundedOuter& o, const PixelBlock& block, std::int64_t chunk,
                            std::int64_t panel, float* sums) {
    const RoundedOuterWorkspace& w = *o.layout;
    const ConvShape& s = o.arguments->shape;
    const std::int64_t chunks = block.chunks(), column = panel * kPanelColumns;
    const std::int64_t row = chunk * kRoundedRows, rows = s.taps() * s.channels - row;
    const std::int64_t left = s.filters - column;
    const std::int64_t last_row = rows < kRoundedRows ? rows : kRoundedRows;
    multiply_block(
        sums, o.factors(block.slice * w.source_per_slice) + chunk * chunks * kRowsOfChunk,
        o.factors(w.filters + block.slice * w.filters_per_slice) + panel * chunks * kPanelOfChunk,
        nullptr, chunks, last_row, left);
    const std::int64_t columns = left < kPanelColumns ? left : kPanelColumns;
    for (std::int64_t i = 0; i < last_row; ++i) {
        float* to = o.weights(block.slice) + (row + i) * s.filters + column;
        const float* from = sums + i * kPanelColumns;
        if (block.first) {
            for (std::int64_t j = 0; j < columns; ++j)
                to[j] = from[j];
        } else {
#pragma GCC ivdep
            for (std::int64_t j = 0; j < columns; ++j)
                to[j] += from[j];
        }
    }
}

/// Adds a block's diff_dst, as it is, to the sums of a panel's columns.
inline void add_bias(const RoundedOuter& o, const PixelBlock& block, std::int64_t panel) {
    const ConvShape& s = o.arguments->shape;
    const std::int64_t column = panel * kPanelColumns;
    const std::int64_t columns =
        s.filters - column < kPanelColumns ? s.filters - column : kPanelColumns;
    double sums[kPanelColumns] = {};
    for (std::int64_t i = 0; i < block.count; ++i) {
        const float* row = o.arguments->diff_dst + (block.begin + i) * s.filters + column;
        if (columns == kPanelColumns) {
            for (int j = 0; j < kPanelColumns; ++j)
                sums[j] += double(row[j]);
        } else {
            for (std::int64_t j = 0; j < columns; ++j)
                sums[j] += double(row[j]);
        }
    }
    double* to = o.bias(block.slice) + column;
    for (std::int64_t j = 0; j < columns; ++j)
        to[j] = block.first ? sums[j] : to[j] + sums[j];
}

/// body(block) for every block of a slice's pixels, at least one.
template <class Body>
DTNN_INLINE void for_blocks(const RoundedOuter& o, std::int64_t slice, Body&& body) {
    const std::int64_t pixels = o.arguments->shape.out_pixels();
    const std::int64_t units = (pixels + kDeep - 1) / kDeep;
    const std::int64_t begin = units * slice / o.layout->slices * kDeep;
    const std::int64_t limit = units * (slice + 1) / o.layout->slices * kDeep;
    const std::int64_t end = limit < pixels ? limit : pixels;
    std::int64_t at = begin;
    do {
        const std::int64_t left = end - at;
        body(PixelBlock{slice, at, left < o.layout->pixels ? left : o.layout->pixels, at == begin});
        at += o.layout->pixels;
    } while (at < end);
}

inline float* sums_of(const RoundedOuter& o, int thread) {
    return reinterpret_cast<float*>(o.at(o.layout->sums + thread * o.layout->sums_per_thread));
}

/// One slice: the threads divide the chunks and panels of every block.
inline void divide_weights(const RoundedOuter& o, ThreadTeam& team) {
    const RoundedOuterWorkspace& w = *o.layout;
    // Blocks of rows stay in the first cache while panels pass, unless they are too few to divide.
    const bool by_rows = w.chunks >= std::int64_t{2} * team.size();
    const std::int64_t items = by_rows ? w.chunks : w.chunks * w.panels;
    for_blocks(o, 0, [&](const PixelBlock& block) {
        team.for_each(block.chunks(), [&](std::int64_t chunk, int thread) {
            round_pixels(o, block, chunk, thread);
        });
        team.for_each(items, [&](std::int64_t item, int thread) {
            begin_products();
            if (by_rows) {
                for (std::int64_t panel = 0; panel < w.panels; ++panel)
                    multiply_pixels(o, block, item, panel, sums_of(o, thread));
            } else {
                multiply_pixels(o, block, item / w.panels, item % w.panels, sums_of(o, thread));
            }
            end_products();
            const std::int64_t share = by_rows ? w.chunks : w.chunks * w.panels;
            for (std::int64_t panel = item; o.arguments->diff_bias && panel < w.panels;
                 panel += share)
                add_bias(o, block, panel);
        });
    });
}

/// Every member does its slice.
inline void divide_pixels(const RoundedOuter& o, ThreadTeam& team) {
    const RoundedOuterWorkspace& w = *o.layout;
    team.run([&](int member) {
        for_blocks(o, member, [&](const PixelBlock& block) {
            for (std::int64_t chunk = 0; chunk < block.chunks(); ++chunk)
                round_pixels(o, block, chunk, member);
            begin_products();
            for (std::int64_t chunk = 0; chunk < w.chunks; ++chunk)
                for (std::int64_t panel = 0; panel < w.panels; ++panel)
                    multiply_pixels(o, block, chunk, panel, sums_of(o, member));
            end_products();
            for (std::int64_t panel = 0; o.arguments->diff_bias && panel < w.panels; ++panel)
                add_bias(o, block, panel);
        });
    });
    team.for_pieces(o.arguments->shape.weight_elements(), 256,
                    [&](std::int64_t begin, std::int64_t end, int) {
                        for (std::int64_t i = begin; i < end; ++i) {
                            float sum = o.weights(0)[i];
                            for (std::int64_t slice = 1; slice < w.slices; ++slice)
                                sum += o.weights(slice)[i];
                            o.arguments->diff_weights[i] = sum;
                        }
                    });
}

inline void rounded_backward_weights(const Conv2dBackwardWeightsArguments<float>& a,
                                     ThreadTeam& team) {
    const ConvShape& s = a.shape;
    const RoundedOuterWorkspace layout(s, {kPanelColumns, sizeof(Factor)}, team.size());
    GatherConv<float> c = gather_of(s, a.src);
    c.zeros = reinterpret_cast<float*>(a.workspace.data() + layout.zeros);
    for (std::int64_t i = 0; i < s.channels || i < s.filters; ++i)
        c.zeros[i] = 0;
    const RoundedConv forward{&c, nullptr, Tiling<float>(c, kRoundedTile, false),
                              a.workspace.data()};
    const RoundedOuter o{&a, &layout, forward, c.zeros};
    layout.slices == 1 ? divide_weights(o, team) : divide_pixels(o, team);
    if (!a.diff_bias) return;
    for (std::int64_t f = 0; f < s.filters; ++f) {
        double sum = 0;
        for (std::int64_t slice = 0; slice < layout.slices; ++slice)
            sum += o.bias(slice)[f];
        a.diff_bias[f] = float(sum);
    }
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
