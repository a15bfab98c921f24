#pragma once
/// The weights of gather_conv.hpp as panels: N columns of a group behind each other, for every tap
/// and every channel that is summed over.

#include <cstdint>
#include <cstring>

#include "kernels/cpu/conv/gather_tiles.hpp"
#include "kernels/cpu/simd.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// to[j][i] = from[i][j] for four rows of four; the strides are elements between rows.
template <class T>
DTNN_INLINE void transpose_4x4(const T* from, std::int64_t from_stride, T* to,
                               std::int64_t to_stride) {
    const auto a = load<T, 4>(from);
    const auto b = load<T, 4>(from + from_stride);
    const auto c = load<T, 4>(from + 2 * from_stride);
    const auto d = load<T, 4>(from + 3 * from_stride);
    const auto low_ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const auto low_cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const auto high_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const auto high_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    store<T, 4>(to, __builtin_shufflevector(low_ab, low_cd, 0, 1, 4, 5));
    store<T, 4>(to + to_stride, __builtin_shufflevector(low_ab, low_cd, 2, 3, 6, 7));
    store<T, 4>(to + 2 * to_stride, __builtin_shufflevector(high_ab, high_cd, 0, 1, 4, 5));
    store<T, 4>(to + 3 * to_stride, __builtin_shufflevector(high_ab, high_cd, 2, 3, 6, 7));
}

/// Whether the last columns fit one vector, so that half of their panel is not looked at.
template <int L, int V>
constexpr bool has_narrow_panel(std::int64_t columns) {
    return V == 2 && columns <= L;
}

/// Packs N columns of a group, from column `first` of it: panel[tap][depth][N], zeros past the
/// width.
template <class T, int N>
void pack_panel(const GatherConv<T>& c, std::int64_t group, std::int64_t first, T* panel) {
    const std::int64_t columns = c.width - first < N ? c.width - first : N;
    const std::int64_t taps = c.tap_count();
    for (std::int64_t tap = 0; tap < taps; ++tap, panel += c.depth * N) {
        if (!c.transposed) {
            const T* from = c.weights + tap * c.depth * c.output_pixel() + group * c.width + first;
            for (std::int64_t d = 0; d < c.depth; ++d, from += c.output_pixel()) {
                if (columns == N) {
                    std::memcpy(panel + d * N, from, N * sizeof(T));
                } else {
                    for (std::int64_t j = 0; j < N; ++j)
                        panel[d * N + j] = j < columns ? from[j] : T(0);
                }
            }
            continue;
        }
        // A block of rows at a time, so that the lines it scatters to stay in the first cache.
        const T* from =
            c.weights + ((taps - 1 - tap) * c.width + first) * c.source_pixel() + group * c.depth;
        for (std::int64_t begin = 0; begin < c.depth; begin += 64) {
            const std::int64_t end = begin + 64 < c.depth ? begin + 64 : c.depth;
            std::int64_t j = 0;
            for (; j + 4 <= columns; j += 4) {
                const T* line = from + j * c.source_pixel();
                std::int64_t d = begin;
                if constexpr (4 * sizeof(T) <= kVectorBytes) {
                    for (; d + 4 <= end; d += 4) {
                        transpose_4x4(line + d, c.source_pixel(), panel + d * N + j, N);
                    }
                }
                for (; d < end; ++d) {
                    for (std::int64_t i = 0; i < 4; ++i) {
                        panel[d * N + j + i] = line[i * c.source_pixel() + d];
                    }
                }
            }
            for (; j < N; ++j) {
                const T* line = from + j * c.source_pixel();
                for (std::int64_t d = begin; d < end; ++d) {
                    panel[d * N + j] = j < columns ? line[d] : T(0);
                }
            }
        }
    }
}

/// Packs the panels [first, last) of all groups' `blocks` each to `panels`. Rows of narrow panels
/// Panels whose rows are copied together: what lies side by side in memory is read at once.
template <class T, int N>
constexpr std::int64_t panels_together() {
    return 512 / (N * sizeof(T)) > 1 ? 512 / (N * sizeof(T)) : 1;
}

/// are read for several at a time: a row lies in one place of memory, where reading ahead pays.
template <class T, int N>
void pack_panels(const GatherConv<T>& c, std::int64_t blocks, std::int64_t first, std::int64_t last,
                 T* panels) {
    constexpr std::int64_t kTogether = panels_together<T, N>();
    const std::int64_t rows = c.tap_count() * c.depth;
    while (first < last) {
        const std::int64_t group = first / blocks, block = first % blocks;
        std::int64_t together = c.transposed ? 0 : c.width / N - block;
        if (together > last - first) together = last - first;
        if (together > kTogether) together = kTogether;
        if (together < 2) {
            pack_panel<T, N>(c, group, block * N, panels + first * rows * N);
            ++first;
            continue;
        }
        const T* from = c.weights + group * c.width + block * N;
        for (std::int64_t row = 0; row < rows; ++row, from += c.output_pixel()) {
            for (std::int64_t i = 0; i < together; ++i)
                std::memcpy(panels + ((first + i) * rows + row) * N, from + i * N, N * sizeof(T));
        }
        first += together;
    }
}

/// The panels of N columns that a convolution has, per group, and how many of them stay in the
/// second cache together while all tiles pass. They are packed once, before the run; or at its
/// beginning; or not, and lie among the other columns of the weights, where one tile reads them, or
/// few do and the rows of a panel are so near each other that caches and pages hold them.
template <class T, int N>
struct Panels {
    static constexpr std::int64_t kBytes = 384 * 1024;
    static constexpr std::int64_t kFewTiles = N * sizeof(T) > 64 ? 32 : 8, kNearBytes = 3072;
    std::int64_t blocks = 0, together = 1;
    bool in_place = false, to_pack = false;
    const T* first = nullptr;
    std::int64_t distance = 0, stride = N;  ///< elements between panels, and rows of one

    Panels(const GatherConv<T>& c, std::int64_t tiles) : blocks((c.width + N - 1) / N) {
        const std::int64_t size = c.tap_count() * c.depth * N;
        const std::int64_t fitting = kBytes / (size * std::int64_t(sizeof(T)));
        together = fitting < 1 ? 1 : fitting;
        const bool near = c.width * std::int64_t(sizeof(T)) <= kNearBytes;
        in_place = c.packed == nullptr && !c.transposed && c.groups == 1 && c.width % N == 0 &&
                   (tiles == 1 || (tiles <= kFewTiles && near));
        to_pack = c.packed == nullptr && !in_place;
        first = in_place ? c.weights : c.packed != nullptr ? c.packed : c.panels;
        distance = in_place ? N : size;
        if (in_place) stride = c.width;
    }

    /// Rows of a panel in place, which a processor does not foresee, some before they are needed.
    Ahead rows_ahead(const T* panel) const {
        constexpr std::int64_t kRows = 24;
        return {reinterpret_cast<const char*>(panel + kRows * stride),
                stride * std::int64_t(sizeof(T))};
    }
};

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
