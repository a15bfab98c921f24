#pragma once
/// Convolutions with few channels, forward with strides of 1 and 2, backward to the data of 1. A
/// band of image rows is copied into a padded scratch image, so that the taps of one kernel row are
/// one contiguous run of taps*depth values for every output pixel and no border is a special case;
/// a tile of R output pixels, `S` values apart, then keeps its sums in registers over the whole
/// kernel. Results of 16 bytes a pixel are computed two pixels at a time (see RowsWorkspace).
/// Formula and error bound are gather_conv.hpp's.

#include <cstddef>
#include <cstdint>

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/conv/conv_statistics.hpp"
#include "kernels/cpu/expression_chunk.hpp"
#include "kernels/cpu/gemm_tile.hpp"
#include "kernels/cpu/piece_sums.hpp"
#include "kernels/workspace/conv.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

template <class T>
struct RowConv {
    std::int64_t batch = 0, kernel_height = 0, kernel_width = 0;
    std::int64_t height = 0, width = 0, depth = 0;            ///< the image gathered from
    std::int64_t out_height = 0, out_width = 0, filters = 0;  ///< the result
    std::int64_t pad_top = 0, pad_left = 0;
    std::int64_t stride_height = 1, stride_width = 1;
    const T* src = nullptr;
    T* dst = nullptr;
    const T* weights = nullptr;
    bool transposed = false;  ///< weights [KH,KW,filters,depth] with the taps reversed
    const T* bias = nullptr;
    const T* residual = nullptr;
    const T* mask = nullptr;
    bool relu = false;
    const ElementwiseArguments<T>* epilogue = nullptr;  ///< over dst, in the end; null: none
    double* statistics = nullptr;
    std::byte* workspace = nullptr;

    /// One kernel weight, in the order in which taps are gathered.
    T weight(std::int64_t ky, std::int64_t kx, std::int64_t d, std::int64_t f) const {
        if (transposed) {
            const std::int64_t tap =
                (kernel_height - 1 - ky) * kernel_width + kernel_width - 1 - kx;
            return weights[(tap * filters + f) * depth + d];
        }
        return weights[((ky * kernel_width + kx) * depth + d) * filters + f];
    }
};

template <class T>
RowConv<T> forward_rows(const Conv2dArguments<T>& a) {
    const ConvShape& s = a.shape;
    RowConv<T> c;
    c.batch = s.batch;
    c.kernel_height = s.kernel_height;
    c.kernel_width = s.kernel_width;
    c.height = s.height;
    c.width = s.width;
    c.depth = s.channels;
    c.out_height = s.out_height;
    c.out_width = s.out_width;
    c.filters = s.filters;
    c.pad_top = s.pad_top;
    c.pad_left = s.pad_left;
    c.stride_height = s.stride_height;
    c.stride_width = s.stride_width;
    c.src = a.src;
    c.dst = a.dst;
    c.weights = a.weights;
    c.bias = a.bias;
    c.residual = a.residual;
    c.relu = a.relu;
    if (a.written) c.epilogue = &a.epilogue;
    c.statistics = a.statistics;
    c.workspace = a.workspace.data();
    return c;
}

template <class T>
RowConv<T> backward_data_rows(const Conv2dBackwardDataArguments<T>& a) {
    const ConvShape& s = a.shape;
    RowConv<T> c;
    c.batch = s.batch;
    c.kernel_height = s.kernel_height;
    c.kernel_width = s.kernel_width;
    c.height = s.out_height;
    c.width = s.out_width;
    c.depth = s.filters;
    c.out_height = s.height;
    c.out_width = s.width;
    c.filters = s.channels;
    c.pad_top = s.kernel_height - 1 - s.pad_top;
    c.pad_left = s.kernel_width - 1 - s.pad_left;
    c.src = a.diff_dst;
    c.dst = a.diff_src;
    c.weights = a.weights;
    c.transposed = true;
    c.mask = a.mask;
    c.bias = a.bias;
    c.relu = a.relu;
    c.workspace = a.workspace.data();
    return c;
}

/// Copies source rows [first, first + rows) of image n into the scratch image of rows of `row`
/// values. Rows outside the source become zero; what is left and right of a line is never written
/// and was set to zero before the first band.
template <class T>
void pad_rows(const T* src, std::int64_t height, std::int64_t width, std::int64_t depth,
              std::int64_t n, std::int64_t first, std::int64_t rows, std::int64_t pad_left,
              std::int64_t row, T* to) {
    constexpr int L = kLanes<T>;
    const std::int64_t room = row - pad_left * depth;
    const std::int64_t line = width * depth < room ? width * depth : room;
    to += pad_left * depth;
    for (std::int64_t y = first; y < first + rows; ++y, to += row) {
        std::int64_t i = 0;
        if (y < 0 || y >= height) {
            for (; i < line; ++i)
                to[i] = T(0);
            continue;
        }
        const T* from = src + (n * height + y) * width * depth;
        for (; i + L <= line; i += L)
            store<T, L>(to + i, load<T, L>(from + i));
        for (; i < line; ++i)
            to[i] = from[i];
    }
}

/// Asks for the source rows from `first` on that a later row of results is the first to read.
template <class T>
void ask_rows(const RowConv<T>& c, std::int64_t n, std::int64_t first) {
    const std::int64_t line = c.width * c.depth;
    const T* const from = c.src + (n * c.height + first) * line;
    for (std::int64_t i = 0; i < c.stride_height * line; i += 64 / std::int64_t(sizeof(T)))
        __builtin_prefetch(from + i, 0, 2);
}

/// Adds a kernel, all rows and taps, to the sums of R groups of output pixels.
template <class T, int L, int V, int R, int S>
DTNN_INLINE void add_kernel(Vector<T, L> (&sums)[R][V], const RowConv<T>& c,
                            const RowsWorkspace& layout, const T* from, const T* weights) {
    const std::int64_t length = layout.taps * c.depth;
    for (std::int64_t ky = 0; ky < c.kernel_height; ++ky, from += layout.row) {
        for (std::int64_t k = 0; k < length; ++k, weights += V * L) {
            Vector<T, L> b[V];
            expand<V>([&]<int... v>(Indices<v...>)
                          DTNN_UNROLLED { ((b[v] = load<T, L>(weights + v * L)), ...); });
            expand<R * V>([&]<int... i>(Indices<i...>) DTNN_UNROLLED {
                ((sums[i / V][i % V] += broadcast<T, L>(from[i / V * S + k]) * b[i % V]), ...);
            });
        }
    }
}

/// The (group, tap) of every product of P+2 taps with R groups, in the order of the source values
/// group * P + tap that they multiply.
template <int R, int P>
struct SharedValues {
    static constexpr int kCount = R * (P + 2);
    int group[kCount]{}, tap[kCount]{};
    constexpr SharedValues() {
        for (int value = 0, i = 0; i < kCount; ++value) {
            for (int t = value % P; t < P + 2 && t <= value; t += P) {
                if ((value - t) / P >= R) continue;
                group[i] = (value - t) / P;
                tap[i++] = t;
            }
        }
    }
};
template <int R, int P>
constexpr SharedValues<R, P> kShared;

/// The same for kernels three wide and one vector a group. A source value is loaded once for all
/// the taps it meets: otherwise every addition has its own load, and the loads limit the narrower
/// vectors.
template <class T, int L, int R, int S, int P>
DTNN_INLINE void add_kernel_of_three(Vector<T, L> (&sums)[R][1], const RowConv<T>& c,
                                     const RowsWorkspace& layout, const T* from, const T* weights) {
    constexpr int kTaps = P + 2;
    constexpr int kDepth = S / P;
    for (std::int64_t ky = 0; ky < c.kernel_height; ++ky, from += layout.row) {
        for (std::int64_t d = 0; d < kDepth; ++d, weights += L) {
            Vector<T, L> b[kTaps];
            expand<kTaps>([&]<int... t>(Indices<t...>) DTNN_UNROLLED {
                ((b[t] = load<T, L>(weights + t * kDepth * L)), ...);
            });
            expand<R * kTaps>([&]<int... i>(Indices<i...>) DTNN_UNROLLED {
                constexpr const SharedValues<R, P>& s = kShared<R, P>;
                ((sums[s.group[i]][0] +=
                  broadcast<T, L>(from[(s.group[i] * P + s.tap[i]) * kDepth + d]) * b[s.tap[i]]),
                 ...);
            });
        }
        weights += (kTaps - 1) * kDepth * L;
    }
}

/// Residual, relu and mask on all R groups of a tile, `step` values apart, and their way to memory.
template <class T, int L, int V, int R>
DTNN_INLINE void finish_tile(const RowConv<T>& c, Vector<T, L> (&sums)[R][V], std::int64_t base,
                             std::int64_t step) {
    const auto at = [&](int i) DTNN_UNROLLED { return base + i / V * step + i % V * L; };
    expand<R * V>([&]<int... i>(Indices<i...>) DTNN_UNROLLED {
        const auto value = [&](int index) DTNN_UNROLLED -> Vector<T, L>& {
            return sums[index / V][index % V];
        };
        if (c.residual) ((value(i) += load<T, L>(c.residual + at(i))), ...);
        if (c.relu) ((value(i) = value(i) < T(0) ? Vector<T, L>{} : value(i)), ...);
        if (c.mask) {
            ((value(i) = load<T, L>(c.mask + at(i)) > T(0) ? value(i) : Vector<T, L>{}), ...);
        }
        (store<T, L>(c.dst + at(i), value(i)), ...);
    });
}

/// The same for the tile at the end of a row, of which only `count` vectors, V a group, are
/// results. A function of its own, once for L and V: unrolled in every tile it would be half of the
/// code.
template <class T, int L, int V>
__attribute__((noinline)) void finish_last_tile(const RowConv<T>& c, const Vector<T, L>* sums,
                                                std::int64_t count, std::int64_t base,
                                                std::int64_t step) {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t at = base + i / V * step + i % V * L;
        Vector<T, L> value = sums[i];
        if (c.residual) value += load<T, L>(c.residual + at);
        if (c.relu) value = value < T(0) ? Vector<T, L>{} : value;
        if (c.mask) value = load<T, L>(c.mask + at) > T(0) ? value : Vector<T, L>{};
        store<T, L>(c.dst + at, value);
    }
}

/// Tiles of R groups of output pixels along one row; V*L results a group, of columns starting at
/// `column`.
template <class T, int L, int V, int R, int S>
void convolve_row(const RowConv<T>& c, const RowsWorkspace& layout, const T* padded, const T* panel,
                  const T* bias, std::int64_t pixel, std::int64_t column) {
    const std::int64_t groups = c.out_width / layout.pixels;
    const std::int64_t step = c.filters * layout.pixels;
    for (std::int64_t first = 0; first < groups; first += R) {
        Vector<T, L> sums[R][V];
        expand<R * V>([&]<int... i>(Indices<i...>) DTNN_UNROLLED {
            ((sums[i / V][i % V] = load<T, L>(bias + column + i % V * L)), ...);
        });
        const T* from = padded + first * S;
        if constexpr (V == 1 && L * sizeof(T) == 32) {
            if (c.kernel_width != 3 || c.stride_width != 1) {
                add_kernel<T, L, V, R, S>(sums, c, layout, from, panel);
            } else if (layout.pixels == 1) {
                add_kernel_of_three<T, L, R, S, 1>(sums, c, layout, from, panel);
            } else if constexpr (S % 2 == 0) {
                add_kernel_of_three<T, L, R, S, 2>(sums, c, layout, from, panel);
            }
        } else {
            add_kernel<T, L, V, R, S>(sums, c, layout, from, panel);
        }
        const std::int64_t base = pixel * c.filters + first * step + column;
        if (groups - first >= R) {
            finish_tile<T, L, V, R>(c, sums, base, step);
        } else {
            // A copy: sums whose address is taken would not stay in registers.
            Vector<T, L> last[R * V];
            expand<R * V>([&]<int... i>(Indices<i...>)
                              DTNN_UNROLLED { ((last[i] = sums[i / V][i % V]), ...); });
            finish_last_tile<T, L, V>(c, last, (groups - first) * V, base, step);
        }
    }
}

/// Adds the distances of rows of `width` values from `origin` to their sums and sums of squares.
template <class T>
void add_statistics(const T* rows, std::int64_t count, std::int64_t width, const T* origin,
                    double* sums) {
    constexpr int D = kLanes<double>;
    double* squares = sums + width;
    std::int64_t j = 0;
    for (; j + D <= width; j += D) {
        Vector<double, D> s = load<double, D>(sums + j);
        Vector<double, D> q = load<double, D>(squares + j);
        const Vector<double, D> start =
            __builtin_convertvector((load<T, D>(origin + j)), Vector<double, D>);
        for (std::int64_t i = 0; i < count; ++i) {
            const Vector<double, D> value =
                __builtin_convertvector((load<T, D>(rows + i * width + j)), Vector<double, D>) -
                start;
            s += value;
            q += value * value;
        }
        store<double, D>(sums + j, s);
        store<double, D>(squares + j, q);
    }
    for (; j < width; ++j) {
        for (std::int64_t i = 0; i < count; ++i) {
            const double value = double(rows[i * width + j]) - double(origin[j]);
            sums[j] += value;
            squares[j] += value * value;
        }
    }
}

/// A thread's constants, made before its first band: weights as panels [block][KH][taps*depth][N],
/// and bias.
template <class T>
void prepare_rows(const RowConv<T>& c, const RowsWorkspace& layout, std::int64_t block, T* panels,
                  T* bias) {
    const std::int64_t columns = c.filters * layout.pixels;
    for (std::int64_t first = 0; first < columns; first += block) {
        for (std::int64_t ky = 0; ky < c.kernel_height; ++ky) {
            for (std::int64_t x = 0; x < layout.taps; ++x) {
                for (std::int64_t d = 0; d < c.depth; ++d) {
                    std::int64_t kx = x - first / c.filters, filter = first % c.filters;
                    for (std::int64_t j = 0; j < block; ++j) {
                        *panels++ =
                            kx < 0 || kx >= c.kernel_width ? T(0) : c.weight(ky, kx, d, filter);
                        if (++filter < c.filters) continue;
                        filter = 0;
                        --kx;
                    }
                }
            }
        }
    }
    for (std::int64_t j = 0; j < columns; ++j)
        bias[j] = c.bias ? c.bias[j % c.filters] : T(0);
}

/// Computes one row of the result: convolve_row with its tile.
template <class T>
using RowFunction = void (*)(const RowConv<T>& c, const RowsWorkspace& layout, const T* padded,
                             const T* panel, const T* bias, std::int64_t pixel,
                             std::int64_t column);

/// All rows, `block` results at a time. Once for a type: only the rows differ from tile to tile.
template <class T>
void convolve_bands(const RowConv<T>& c, const RowsWorkspace& layout, std::int64_t block,
                    RowFunction<T> row, ThreadTeam& team) {
    const std::int64_t bands = (c.out_height + layout.band - 1) / layout.band;
    const std::int64_t columns = c.filters * layout.pixels;
    const std::int64_t panel = c.kernel_height * layout.taps * c.depth * block;
    const bool streams =
        std::int64_t(sizeof(T)) * c.batch *
            (c.height * c.width * c.depth + c.out_height * c.out_width * c.filters) >
        kCachedBytes;
    auto* const statistics = reinterpret_cast<double*>(c.workspace + layout.statistics);
    const std::int64_t distance = layout.statistics_per_piece / 8;
    team.run([&](int member) {
        std::byte* scratch = c.workspace + member * layout.bytes_per_thread;
        auto* padded = reinterpret_cast<T*>(scratch);
        auto* panels = reinterpret_cast<T*>(scratch + layout.weights);
        auto* bias = reinterpret_cast<T*>(scratch + layout.bias);
        for (T* at = padded; at < panels; ++at)
            *at = T(0);
        prepare_rows(c, layout, block, panels, bias);
    });
    const auto convolve = [&](std::int64_t first, std::int64_t last, std::int64_t piece,
                              int thread) {
        std::byte* scratch = c.workspace + thread * layout.bytes_per_thread;
        auto* padded = reinterpret_cast<T*>(scratch);
        const auto* panels = reinterpret_cast<const T*>(scratch + layout.weights);
        const auto* bias = reinterpret_cast<const T*>(scratch + layout.bias);
        double* const sums = statistics + piece * distance;
        for (std::int64_t j = 0; j < 2 * c.filters; ++j)
            sums[j] = 0;
        for (std::int64_t item = first; item < last; ++item) {
            const std::int64_t n = item / bands;
            const std::int64_t begin = item % bands * layout.band;
            const std::int64_t end =
                begin + layout.band < c.out_height ? begin + layout.band : c.out_height;
            pad_rows(c.src, c.height, c.width, c.depth, n, begin * c.stride_height - c.pad_top,
                     (end - begin - 1) * c.stride_height + c.kernel_height, c.pad_left, layout.row,
                     padded);
            for (std::int64_t y = begin; y < end; ++y) {
                if (streams) ask_rows(c, n, (y + end - begin) * c.stride_height);
                for (std::int64_t column = 0; column < columns; column += block) {
                    row(c, layout, padded + (y - begin) * c.stride_height * layout.row,
                        panels + column / block * panel, bias, (n * c.out_height + y) * c.out_width,
                        column);
                }
                if (c.epilogue) {
                    const std::int64_t wide = c.out_width * c.filters;
                    rewrite(*c.epilogue, c.dst, (n * c.out_height + y) * wide, wide);
                }
            }
            if (c.statistics) {
                add_statistics(c.dst + (n * c.out_height + begin) * c.out_width * c.filters,
                               (end - begin) * c.out_width, c.filters, bias, sums);
            }
        }
    };
    team.for_sums(c.batch * bands, 1, convolve);
    if (!c.statistics) return;
    add_up_pieces(statistics, 2 * c.filters, team.pieces(c.batch * bands, 1), distance, team);
    total_statistics(c.statistics, c.filters, c.bias, 1, [&](int) { return statistics; });
}

/// The tile height that wastes least of a row, the first of equals.
template <int... Rs, class Body>
void choose_rows(std::int64_t groups, Body&& body) {
    std::int64_t best = 0;
    std::int64_t least = INT64_MAX;
    const auto consider = [&](std::int64_t rows) {
        const std::int64_t computed = (groups + rows - 1) / rows * rows;
        if (computed < least) {
            least = computed;
            best = rows;
        }
    };
    (consider(Rs), ...);
    ((best == Rs ? body(std::integral_constant<int, Rs>{}) : void()), ...);
}

template <class T, int L, int V, int S, int... Rs>
void convolve_with_tile(const RowConv<T>& c, const RowsWorkspace& layout, ThreadTeam& team) {
    choose_rows<Rs...>(c.out_width / layout.pixels, [&](auto rows) {
        convolve_bands<T>(c, layout, V * L, &convolve_row<T, L, V, decltype(rows)::value, S>, team);
    });
}

template <class T, int S>
void convolve_with_step(const RowConv<T>& c, const RowsWorkspace& layout, ThreadTeam& team) {
    const std::int64_t bytes = c.filters * layout.pixels * std::int64_t(sizeof(T));
    // One height for doubles, which are for checks: every other one takes the compiler a second.
#if defined(__AVX512F__)
    constexpr int L = 64 / sizeof(T);
    if constexpr (sizeof(T) == 8) {
        if (bytes % 128 == 0) return convolve_with_tile<T, L, 2, S, 8>(c, layout, team);
        if (bytes % 64 == 0) return convolve_with_tile<T, L, 1, S, 8>(c, layout, team);
        convolve_with_tile<T, L / 2, 1, S, 8>(c, layout, team);
    } else {
        if (bytes % 128 == 0) return convolve_with_tile<T, L, 2, S, 14, 8>(c, layout, team);
        if (bytes % 64 == 0) return convolve_with_tile<T, L, 1, S, 16, 14, 8>(c, layout, team);
        convolve_with_tile<T, L / 2, 1, S, 16, 14, 8>(c, layout, team);
    }
#elif defined(__AVX2__)
    constexpr int L = 32 / sizeof(T);
    if constexpr (sizeof(T) == 8) {
        if (bytes % 64 == 0) return convolve_with_tile<T, L, 2, S, 4>(c, layout, team);
        convolve_with_tile<T, L, 1, S, 8>(c, layout, team);
    } else {
        if (bytes % 64 == 0) return convolve_with_tile<T, L, 2, S, 6, 4>(c, layout, team);
        convolve_with_tile<T, L, 1, S, 12, 7, 8>(c, layout, team);
    }
#else
    static_cast<void>(bytes);
    constexpr int L = 16 / sizeof(T);
    if constexpr (kVectorRegisters == 32 && sizeof(T) == sizeof(float))
        convolve_with_tile<T, L, 2, S, 8, 7, 4>(c, layout, team);
    else
        convolve_with_tile<T, L, 2, S, 4>(c, layout, team);
#endif
}

template <class T>
void convolve_rows(const RowConv<T>& c, const RowsWorkspace& layout, ThreadTeam& team) {
    switch (c.depth * layout.pixels * c.stride_width) {
        case 1:
            return convolve_with_step<T, 1>(c, layout, team);
        case 2:
            return convolve_with_step<T, 2>(c, layout, team);
        case 3:
            return convolve_with_step<T, 3>(c, layout, team);
        case 4:
            return convolve_with_step<T, 4>(c, layout, team);
        case 6:
            return convolve_with_step<T, 6>(c, layout, team);
        case 8:
            return convolve_with_step<T, 8>(c, layout, team);
        case 16:
            return convolve_with_step<T, 16>(c, layout, team);
        case 32:
            return convolve_with_step<T, 32>(c, layout, team);
        default:
            return;  // the catalogue refuses every other depth
    }
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
