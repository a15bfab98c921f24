#pragma once
/// Convolutions with few channels on both sides and stride 1, forward and backward to the data: on
/// planes of one channel each (kernels/workspace/planes.hpp), in which all cells of a band that a
/// tap meets are one run. A tile keeps the sums of all results of P vectors of cells in registers
/// over the whole kernel; weights are broadcast. Results become pixels again in registers.
/// Formula and error bound are gather_conv.hpp's.

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/conv/channel_planes.hpp"
#include "kernels/cpu/conv/row_conv.hpp"
#include "kernels/workspace/planes.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// A band as its tiles see it.
template <class T>
struct PlanesBand {
    const T* planes = nullptr;
    const T* weights = nullptr;  ///< [depth, KH, KW, F]
    const T* bias = nullptr;     ///< [F]
    T* results = nullptr;        ///< [cells, F]
    std::int64_t depth = 0, kernel_height = 0, kernel_width = 0;
    std::int64_t columns = 0, plane = 0;
    std::int64_t vectors = 0;  ///< of cells
};

/// F results of each of P vectors of cells from `first` on.
template <class T, int F, int P>
DTNN_INLINE void planes_tile(const PlanesBand<T>& b, std::int64_t first) {
    constexpr int L = kLanes<T>;
    Vector<T, L> sums[P][F];
    expand<P * F>([&]<int... i>(Indices<i...>) DTNN_UNROLLED {
        ((sums[i / F][i % F] = broadcast<T, L>(b.bias[i % F])), ...);
    });
    const T* weights = b.weights;
    for (std::int64_t d = 0; d < b.depth; ++d) {
        const T* row = b.planes + d * b.plane + first * L;
        for (std::int64_t ky = 0; ky < b.kernel_height; ++ky, row += b.columns) {
            for (std::int64_t kx = 0; kx < b.kernel_width; ++kx, weights += F) {
                Vector<T, L> cells[P];
                expand<P>([&]<int... p>(Indices<p...>)
                              DTNN_UNROLLED { ((cells[p] = load<T, L>(row + kx + p * L)), ...); });
                expand<F * P>([&]<int... i>(Indices<i...>) DTNN_UNROLLED {
                    ((sums[i % P][i / P] += cells[i % P] * broadcast<T, L>(weights[i / P])), ...);
                });
            }
        }
    }
    T* to = b.results + first * L * F;
    unroll<P>([&](auto p) DTNN_UNROLLED {
        join_planes<T, L, F>(sums[p]);
        expand<F>([&]<int... i>(Indices<i...>)
                      DTNN_UNROLLED { (store<T, L>(to + (p * F + i) * L, sums[p][i]), ...); });
    });
}

/// All tiles of a band from `first` on: of P vectors, then one of what is left.
template <class T, int F, int P>
void planes_tiles(const PlanesBand<T>& b, std::int64_t first) {
    for (; first + P <= b.vectors; first += P)
        planes_tile<T, F, P>(b, first);
    if constexpr (P > 1) {
        if (first < b.vectors) planes_tiles<T, F, P - 1>(b, first);
    }
}

template <class T>
using PlanesTiles = void (*)(const PlanesBand<T>& b, std::int64_t first);

template <class T>
PlanesTiles<T> planes_tiles_of(std::int64_t filters) {
    constexpr bool kMany = kVectorBytes == 64;  // registers: 32, else 16
    switch (filters) {
        case 1:
            return &planes_tiles<T, 1, 8>;
        case 2:
            return &planes_tiles < T, 2, kMany ? 8 : 4 > ;
        case 4:
            return &planes_tiles < T, 4, kMany ? 6 : 3 > ;
        default:
            return &planes_tiles < T, 8, kMany ? 3 : 1 > ;
    }
}

/// Residual, relu and mask on `count` values of c.dst from `at` on.
template <class T>
void finish_row(const RowConv<T>& c, const T* from, std::int64_t at, std::int64_t count) {
    constexpr int L = kLanes<T>;
    std::int64_t i = 0;
    for (; i + L <= count; i += L) {
        Vector<T, L> value = load<T, L>(from + i);
        if (c.residual) value += load<T, L>(c.residual + at + i);
        if (c.relu) value = value < T(0) ? Vector<T, L>{} : value;
        if (c.mask) value = load<T, L>(c.mask + at + i) > T(0) ? value : Vector<T, L>{};
        store<T, L>(c.dst + at + i, value);
    }
    for (; i < count; ++i) {
        T value = from[i];
        if (c.residual) value += c.residual[at + i];
        if (c.relu) value = value < T(0) ? T(0) : value;
        if (c.mask) value = c.mask[at + i] > T(0) ? value : T(0);
        c.dst[at + i] = value;
    }
}

/// The weights as tiles read them, and the bias.
template <class T>
void prepare_planes(const RowConv<T>& c, T* weights, T* bias) {
    for (std::int64_t d = 0; d < c.depth; ++d) {
        for (std::int64_t ky = 0; ky < c.kernel_height; ++ky) {
            for (std::int64_t kx = 0; kx < c.kernel_width; ++kx) {
                for (std::int64_t f = 0; f < c.filters; ++f)
                    *weights++ = c.weight(ky, kx, d, f);
            }
        }
    }
    for (std::int64_t f = 0; f < c.filters; ++f)
        bias[f] = c.bias ? c.bias[f] : T(0);
}

template <class T>
void convolve_planes(const RowConv<T>& c, const PlanesWorkspace& layout, ThreadTeam& team) {
    const std::int64_t bands = (c.out_height + layout.band - 1) / layout.band;
    const std::int64_t wide = c.out_width * c.filters;
    auto* weights = reinterpret_cast<T*>(c.workspace + layout.weights);
    auto* bias = reinterpret_cast<T*>(c.workspace + layout.bias);
    const auto scratch = [&](std::int64_t member) {
        return c.workspace + member * layout.bytes_per_thread;
    };
    const auto statistics = [&](std::int64_t member) {
        return reinterpret_cast<double*>(scratch(member) + layout.statistics);
    };
    prepare_planes(c, weights, bias);
    team.run([&](int member) {
        auto* planes = reinterpret_cast<T*>(scratch(member));
        for (std::int64_t i = 0; i < c.depth * layout.source; ++i)
            planes[i] = T(0);
        for (std::int64_t j = 0; j < 2 * c.filters; ++j)
            statistics(member)[j] = 0;
    });
    const PlanesTiles<T> tiles = planes_tiles_of<T>(c.filters);
    const PlaneBands<T> source{c.src,      c.height,       c.width,       c.depth,
                               c.pad_left, layout.columns, layout.source, split_row_of<T>(c.depth)};
    const auto convolve = [&](std::int64_t first, std::int64_t last, int member) {
        auto* planes = reinterpret_cast<T*>(scratch(member));
        auto* results = reinterpret_cast<T*>(scratch(member) + layout.results);
        PlanesBand<T> b{planes,          weights,        bias,           results,      c.depth,
                        c.kernel_height, c.kernel_width, layout.columns, layout.source};
        for (std::int64_t item = first; item < last; ++item) {
            const std::int64_t n = item / bands;
            const std::int64_t begin = item % bands * layout.band;
            const std::int64_t rows =
                begin + layout.band < c.out_height ? layout.band : c.out_height - begin;
            source.copy(n, begin - c.pad_top, rows + c.kernel_height - 1, planes);
            b.vectors = ((rows - 1) * layout.columns + c.out_width + kLanes<T> - 1) / kLanes<T>;
            tiles(b, 0);
            for (std::int64_t y = 0; y < rows; ++y) {
                const std::int64_t at = (n * c.out_height + begin + y) * wide;
                finish_row(c, results + y * layout.columns * c.filters, at, wide);
                if (c.epilogue) rewrite(*c.epilogue, c.dst, at, wide);
            }
            if (c.statistics) {
                add_statistics(c.dst + (n * c.out_height + begin) * wide, rows * c.out_width,
                               c.filters, bias, statistics(member));
            }
        }
    };
    team.divide(c.batch * bands, 1, c.statistics, convolve);
    if (!c.statistics) return;
    total_statistics(c.statistics, c.filters, c.bias, team.size(), statistics);
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
