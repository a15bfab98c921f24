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

#include "kernels/cpu/conv_statistics.hpp"
#include "kernels/cpu/gemm_tile.hpp"
#include "kernels/thread_team.hpp"
#include "kernels/workspace/conv.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

struct GatherAxis {
    std::int64_t source = 0, output = 0, taps = 0;  ///< sizes
    std::int64_t multiply = 1, offset = 0, dilation = 1, divide = 1;

    /// The source cell of a tap, or -1 when there is none.
    std::int64_t cell(std::int64_t start, std::int64_t tap) const {
        std::int64_t at = start + tap * dilation;
        if (at < 0) return -1;
        if (divide != 1) {
            if (at % divide != 0) return -1;
            at /= divide;
        }
        return at < source ? at : -1;
    }
    std::int64_t start(std::int64_t output_cell) const { return output_cell * multiply + offset; }
};

template <class T>
struct GatherConv {
    GatherAxis y, x;
    std::int64_t batch = 0, groups = 1;
    std::int64_t depth = 0, width = 0;  ///< of a group
    const T* src = nullptr;
    T* dst = nullptr;
    const T* bias = nullptr;      ///< [groups*width] or null
    const T* residual = nullptr;  ///< like dst, or null
    const T* mask = nullptr;  ///< like dst, or null: the result is zero where this is not positive
    bool relu = false;
    double* statistics = nullptr;  ///< [3, groups*width] or null
    /// Weights [taps, depth, groups*width], or transposed and the taps reversed: [taps, width,
    /// groups*depth].
    const T* weights = nullptr;
    bool transposed = false;
    T* panels = nullptr;
    T* zeros = nullptr;
    std::byte* taps = nullptr;
    std::int64_t taps_per_thread = 0;
    double* partial_statistics = nullptr;
    std::int64_t partial_stride = 0;  ///< elements between the threads' sums

    std::int64_t source_pixel() const { return groups * depth; }
    std::int64_t output_pixel() const { return groups * width; }
    std::int64_t tap_count() const { return y.taps * x.taps; }
};

/// A run of taps whose rows and panel rows follow each other in memory.
template <class T>
struct TapRun {
    const T* rows[kMostTileRows];
    std::int64_t first = 0;   ///< panel row
    std::int64_t length = 0;  ///< panel rows
};

/// The output cells of a tile: their places in dst (in pixels) and where they start in the source.
struct TileCells {
    std::int64_t count = 0;
    std::int64_t pixel[kMostTileRows], image[kMostTileRows];
    std::int64_t start_y[kMostTileRows], start_x[kMostTileRows];
};

/// How tiles are numbered. Cells are divided into phases by (y % step_y, x % step_x); a tile holds
/// cells of one phase.
template <class T>
struct Tiling {
    std::int64_t rows = 1, step_y = 1, step_x = 1, tiles_per_phase = 0;

    Tiling(const GatherConv<T>& c, std::int64_t tile_rows) : rows(tile_rows) {
        step_y = c.y.divide;
        step_x = c.x.divide;
        if (c.y.divide == 1 && c.x.divide == 1 && saves_taps(c)) {
            step_y = c.y.output;
            step_x = c.x.output;
        }
        const std::int64_t height = (c.y.output + step_y - 1) / step_y;
        const std::int64_t width = (c.x.output + step_x - 1) / step_x;
        tiles_per_phase = (c.batch * height * width + rows - 1) / rows;
    }

    std::int64_t tiles() const { return tiles_per_phase * step_y * step_x; }

    /// Whether tiles of one cell of several images do clearly less work than tiles of neighbouring
    /// cells.
    bool saves_taps(const GatherConv<T>& c) const {
        if (c.batch < rows || c.depth < 8 || c.y.output * c.x.output > 64) return false;
        const std::int64_t valid = inside(c.y) * inside(c.x);
        const std::int64_t scanned = (c.batch * c.y.output * c.x.output + rows - 1) / rows;
        return (c.batch + rows - 1) / rows * valid * 100 < scanned * c.tap_count() * 95;
    }

    static std::int64_t inside(const GatherAxis& axis) {
        std::int64_t count = 0;
        for (std::int64_t cell = 0; cell < axis.output; ++cell) {
            for (std::int64_t tap = 0; tap < axis.taps; ++tap) {
                count += axis.cell(axis.start(cell), tap) >= 0;
            }
        }
        return count;
    }

    void cells(const GatherConv<T>& c, std::int64_t tile, TileCells& cells) const {
        const std::int64_t phases = step_y * step_x;
        const std::int64_t phase = tile % phases;
        const std::int64_t phase_y = phase / step_x;
        const std::int64_t phase_x = phase % step_x;
        cells.count = 0;
        if (phase_y >= c.y.output || phase_x >= c.x.output) return;
        const std::int64_t height = (c.y.output - phase_y + step_y - 1) / step_y;
        const std::int64_t width = (c.x.output - phase_x + step_x - 1) / step_x;
        const std::int64_t first = tile / phases * rows;
        const std::int64_t left = c.batch * height * width - first;
        if (left <= 0) return;
        cells.count = left < rows ? left : rows;
        std::int64_t n = first / (height * width);
        std::int64_t row = first / width % height;
        std::int64_t column = first % width;
        for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t at_y = phase_y + row * step_y;
            const std::int64_t at_x = phase_x + column * step_x;
            cells.image[r] = n;
            cells.pixel[r] = (n * c.y.output + at_y) * c.x.output + at_x;
            cells.start_y[r] = c.y.start(at_y);
            cells.start_x[r] = c.x.start(at_x);
            // Rows past the end repeat the last cell: they are computed and not stored.
            if (r + 1 >= cells.count) continue;
            if (++column == width) {
                column = 0;
                if (++row == height) {
                    row = 0;
                    ++n;
                }
            }
        }
    }
};

/// Lists the taps of a tile that are inside for any of its cells; returns how many runs there are.
template <class T>
std::int64_t list_taps(const GatherConv<T>& c, const TileCells& cells, std::int64_t rows,
                       std::int64_t group, TapRun<T>* runs) {
    const bool joinable = c.groups == 1 && c.x.dilation == 1 && c.x.divide == 1;
    const std::int64_t pixel = c.source_pixel();
    std::int64_t count = 0;
    for (std::int64_t ky = 0; ky < c.y.taps; ++ky) {
        const T* lines[kMostTileRows];
        bool any_line = false;
        for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t at = c.y.cell(cells.start_y[r], ky);
            lines[r] = nullptr;
            if (at < 0) continue;
            any_line = true;
            lines[r] =
                c.src + (cells.image[r] * c.y.source + at) * c.x.source * pixel + group * c.depth;
        }
        if (!any_line) continue;
        for (std::int64_t kx = 0; kx < c.x.taps; ++kx) {
            TapRun<T>& run = runs[count];
            bool any = false;
            const std::int64_t first = (ky * c.x.taps + kx) * c.depth;
            bool joins =
                joinable && count > 0 && runs[count - 1].first + runs[count - 1].length == first;
            for (std::int64_t r = 0; r < rows; ++r) {
                const std::int64_t at = c.x.cell(cells.start_x[r], kx);
                const bool inside = lines[r] != nullptr && at >= 0;
                any |= inside;
                run.rows[r] = inside ? lines[r] + at * pixel : c.zeros;
                joins = joins && inside &&
                        run.rows[r] == runs[count - 1].rows[r] + runs[count - 1].length;
            }
            if (!any) continue;
            if (joins) {
                runs[count - 1].length += c.depth;
                continue;
            }
            run.first = first;
            run.length = c.depth;
            ++count;
        }
    }
    return count;
}

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

/// Packs block `block` of V*L columns of a group: panel[tap][depth][V*L], zeros past the width.
template <class T, int N>
void pack_panel(const GatherConv<T>& c, std::int64_t group, std::int64_t block) {
    const std::int64_t blocks = (c.width + N - 1) / N;
    const std::int64_t first = block * N;
    const std::int64_t columns = c.width - first < N ? c.width - first : N;
    const std::int64_t taps = c.tap_count();
    T* panel = c.panels + (group * blocks + block) * taps * c.depth * N;
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

/// The source rows of the tile behind this one, spread over the work of `blocks` panels, where one
/// tap reads them, side by side: nothing but their coming bounds such a convolution.
template <class T>
Ahead next_tile(const GatherConv<T>& c, const TileCells& cells, std::int64_t rows,
                std::int64_t blocks) {
    const bool side_by_side = c.tap_count() == 1 && c.groups == 1 && c.x.multiply == 1 &&
                              c.x.divide == 1 && c.y.multiply == 1 && c.y.divide == 1 &&
                              c.y.offset == 0 && c.x.offset == 0 && c.x.source == c.x.output &&
                              c.y.source == c.y.output;
    if (!side_by_side || cells.pixel[0] + 1 != cells.pixel[rows > 1 ? 1 : 0])
        return {reinterpret_cast<const char*>(c.panels), 0};
    return {reinterpret_cast<const char*>(c.src + (cells.pixel[0] + rows) * c.depth),
            (rows * std::int64_t(sizeof(T)) + blocks - 1) / blocks};
}

/// Asks for the memory that a tile of N columns will be written to, and is masked by or added to.
template <class T, int N>
DTNN_INLINE void want_results(const GatherConv<T>& c, const TileCells& cells, std::int64_t column) {
    for (std::int64_t r = 0; r < cells.count; ++r) {
        const std::int64_t at = cells.pixel[r] * c.output_pixel() + column;
        for (std::int64_t j = 0; j < N; j += 64 / std::int64_t(sizeof(T))) {
            __builtin_prefetch(c.dst + at + j, 1);
            if (c.mask) __builtin_prefetch(c.mask + at + j);
            if (c.residual) __builtin_prefetch(c.residual + at + j);
        }
    }
}

template <class T, int L, int R, int V>
void gather_tiles(const GatherConv<T>& c, const Tiling<T>& tiling, std::int64_t begin,
                  std::int64_t end, int member) {
    constexpr int N = V * L;
    // Panels are taken in groups that stay in the second cache while all tiles pass.
    constexpr std::int64_t kPanelBytes = 384 * 1024;
    const std::int64_t blocks = (c.width + N - 1) / N;
    const std::int64_t panel_size = c.tap_count() * c.depth * N;
    const std::int64_t fitting = kPanelBytes / (panel_size * std::int64_t(sizeof(T)));
    const std::int64_t together = fitting < 1 ? 1 : fitting;
    auto* runs = reinterpret_cast<TapRun<T>*>(c.taps + member * c.taps_per_thread);
    double* partial =
        c.partial_statistics ? c.partial_statistics + member * c.partial_stride : nullptr;
    for (std::int64_t group = 0; group < c.groups; ++group) {
        for (std::int64_t first = 0; first < blocks; first += together) {
            const std::int64_t last = first + together < blocks ? first + together : blocks;
            for (std::int64_t tile = begin; tile < end; ++tile) {
                TileCells cells;
                tiling.cells(c, tile, cells);
                if (cells.count == 0) continue;
                const std::int64_t count = list_taps(c, cells, R, group, runs);
                Ahead ahead = next_tile(c, cells, R, last - first);
                for (std::int64_t block = first; block < last; ++block) {
                    const T* panel = c.panels + (group * blocks + block) * panel_size;
                    Vector<T, L> sums[R][V] = {};
                    want_results<T, N>(c, cells, group * c.width + block * N);
                    for (std::int64_t i = 0; i < count; ++i) {
                        multiply_rows<T, L, R, V>(sums, runs[i].rows, runs[i].length,
                                                  panel + runs[i].first * N, ahead);
                    }
                    const std::int64_t left = c.width - block * N;
                    finish_tile<T, L, R, V>(c, cells, group * c.width + block * N,
                                            left < N ? left : N, sums, partial);
                }
            }
        }
    }
}

template <class T, int L, int R, int V>
void gather_with_tile(const GatherConv<T>& c, ThreadTeam& team) {
    constexpr int N = V * L;
    const std::int64_t blocks = (c.width + N - 1) / N;
    const Tiling<T> tiling(c, R);
    team.run([&](int member) {
        const std::int64_t panels = c.groups * blocks;
        for (std::int64_t i = panels * member / team.size();
             i < panels * (member + 1) / team.size(); ++i) {
            pack_panel<T, N>(c, i / blocks, i % blocks);
        }
        if (member == 0) {
            for (std::int64_t d = 0; d < c.depth; ++d)
                c.zeros[d] = T(0);
        }
        if (c.partial_statistics) {
            double* partial = c.partial_statistics + member * c.partial_stride;
            for (std::int64_t j = 0; j < 2 * c.output_pixel(); ++j)
                partial[j] = 0;
        }
    });
    team.run([&](int member) {
        gather_tiles<T, L, R, V>(c, tiling, tiling.tiles() * member / team.size(),
                                 tiling.tiles() * (member + 1) / team.size(), member);
    });
    if (!c.statistics) return;
    total_statistics(c.statistics, c.output_pixel(), c.bias, team.size(),
                     [&](int member) { return c.partial_statistics + member * c.partial_stride; });
}

/// Runs it with the tile that suits the width: narrow results in narrower vectors.
template <class T>
void gather(const GatherConv<T>& c, ThreadTeam& team) {
    constexpr int L = kLanes<T>;
    if (c.width <= L / 2 && L > 4) {
        gather_with_tile<T, (L > 4 ? L / 2 : L), kTileRows, 1>(c, team);
    } else if (c.width <= L) {
        gather_with_tile<T, L, kTileRows, 1>(c, team);
    } else {
        gather_with_tile<T, L, kTileRows, 2>(c, team);
    }
}

template <class T>
void place(GatherConv<T>& c, const GatherWorkspace& layout, Workspace workspace) {
    c.panels = reinterpret_cast<T*>(workspace.data());
    c.zeros = reinterpret_cast<T*>(workspace.data() + layout.zeros);
    c.taps = workspace.data() + layout.taps;
    c.taps_per_thread = layout.taps_per_thread;
}

template <class T>
void gather_forward(const Conv2dArguments<T>& a, ThreadTeam& team) {
    const ConvShape& s = a.shape;
    GatherConv<T> c;
    c.y = {s.height, s.out_height, s.kernel_height, s.stride_height, -s.pad_top, s.dilation_height,
           1};
    c.x = {s.width, s.out_width, s.kernel_width, s.stride_width, -s.pad_left, s.dilation_width, 1};
    c.batch = s.batch;
    c.groups = s.groups;
    c.depth = s.group_channels();
    c.width = s.group_filters();
    c.src = a.src;
    c.dst = a.dst;
    c.bias = a.bias;
    c.residual = a.residual;
    c.relu = a.relu;
    c.statistics = a.statistics;
    c.weights = a.weights;
    const GatherWorkspace layout(s, c.depth, c.width, sizeof(T), team.size(),
                                 a.statistics != nullptr);
    place(c, layout, a.workspace);
    if (a.statistics) {
        c.partial_statistics = reinterpret_cast<double*>(a.workspace.data() + layout.statistics);
        c.partial_stride = round_up(2 * s.filters * 8, 64) / 8;
    }
    gather(c, team);
}

template <class T>
void gather_backward_data(const Conv2dBackwardDataArguments<T>& a, ThreadTeam& team) {
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
    place(c, GatherWorkspace(s, c.depth, c.width, sizeof(T), team.size(), false), a.workspace);
    gather(c, team);
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
