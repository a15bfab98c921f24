#pragma once
/// The gradient of the weights of convolutions with few channels and stride 1, on the padded
/// scratch image of row_conv.hpp: for every output pixel the taps of a kernel row are J =
/// taps*channels contiguous values, and a register tile holds their products with the pixel's
/// filters over all rows of a band. Several kernel rows share a tile where J is small, so that
/// there are enough independent sums to hide the latency of an addition.
///
/// Each thread sums its own bands in their order; the threads' sums are added in order
/// (kernels/cpu/conv/outer_conv.hpp has the error bound). diff_bias is summed in double.

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/conv/row_conv.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// The rows of a band: padded source at the first kernel row of the tile, diff_dst, and where the
/// sums are.
template <class T>
struct OuterRows {
    const T* padded = nullptr;
    const T* diff = nullptr;
    T* sums =
        nullptr;  ///< [H][all of a kernel row][columns], at this tile's first value and column
    std::int64_t rows = 0;     ///< output rows
    std::int64_t groups = 0;   ///< groups of output pixels in a row
    std::int64_t row = 0;      ///< values of a padded row
    std::int64_t step = 0;     ///< source values from one group to the next
    std::int64_t columns = 0;  ///< diff_dst values of a group
    std::int64_t length = 0;   ///< values of a kernel row
};

/// H kernel rows by J values of each, by V*L columns.
template <class T, int L, int V, int H, int J>
void outer_rows_tile(const OuterRows<T>& o) {
    Vector<T, L> sums[H * J][V];
    unroll<H * J>([&](auto i) DTNN_UNROLLED {
        const T* at = o.sums + ((i / J) * o.length + i % J) * o.columns;
        unroll<V>([&](auto v) DTNN_UNROLLED { sums[i][v] = load<T, L>(at + v * L); });
    });
    for (std::int64_t y = 0; y < o.rows; ++y) {
        const T* a = o.padded + y * o.row;
        const T* from = o.diff + y * o.groups * o.columns;
        for (std::int64_t x = 0; x < o.groups; ++x, a += o.step, from += o.columns) {
            Vector<T, L> b[V];
            unroll<V>([&](auto v) DTNN_UNROLLED { b[v] = load<T, L>(from + v * L); });
            unroll<H>([&](auto h) DTNN_UNROLLED {
                const T* line = a + h * o.row;
                unroll<J>([&](auto j) DTNN_UNROLLED {
                    const Vector<T, L> scalar = broadcast<T, L>(line[j]);
                    unroll<V>([&](auto v) DTNN_UNROLLED { sums[h * J + j][v] += scalar * b[v]; });
                });
            });
        }
    }
    unroll<H * J>([&](auto i) DTNN_UNROLLED {
        T* at = o.sums + ((i / J) * o.length + i % J) * o.columns;
        unroll<V>([&](auto v) DTNN_UNROLLED { store<T, L>(at + v * L, sums[i][v]); });
    });
}

/// All values of H kernel rows: tiles of twelve, then smaller ones.
template <class T, int L, int V, int H>
void outer_rows_values(OuterRows<T> o) {
    std::int64_t left = o.length;
    const auto advance = [&](std::int64_t values) {
        left -= values;
        o.padded += values;
        o.sums += values * o.columns;
    };
    constexpr int kMost = V == 1 ? 12 : 8;
    while (left >= kMost) {
        outer_rows_tile<T, L, V, 1, kMost>(o);
        advance(kMost);
    }
    if (left >= 8) {
        outer_rows_tile<T, L, V, 1, 8>(o);
        advance(8);
    }
    if (left >= 4) {
        outer_rows_tile<T, L, V, 1, 4>(o);
        advance(4);
    }
    for (; left > 0; advance(1))  // NOLINT(bugprone-infinite-loop)
        outer_rows_tile<T, L, V, 1, 1>(o);
}

/// A band's whole kernel. The common short kernel rows, of one and three channels, have tiles of
/// their own.
template <class T, int L, int V>
void outer_rows_kernel(OuterRows<T> o, std::int64_t kernel_height) {
    std::int64_t ky = 0;
    const auto advance = [&](std::int64_t rows) {
        ky += rows;
        o.padded += rows * o.row;
        o.sums += rows * o.length * o.columns;
    };
    if constexpr (V == 1) {
        if (o.length == 4) {
            for (; ky + 3 <= kernel_height; advance(3))  // NOLINT(bugprone-infinite-loop)
                outer_rows_tile<T, L, V, 3, 4>(o);
        } else if (o.length == 3) {
            for (; ky + 3 <= kernel_height; advance(3))  // NOLINT(bugprone-infinite-loop)
                outer_rows_tile<T, L, V, 3, 3>(o);
        }
    }
    for (; ky < kernel_height; advance(1)) {  // NOLINT(bugprone-infinite-loop)
        if (o.length == 9) {
            outer_rows_tile<T, L, V, 1, 9>(o);
        } else {
            outer_rows_values<T, L, V, 1>(o);
        }
    }
}

/// All columns of a band, in blocks of V*L.
template <class T, int L, int V>
void outer_rows_columns(OuterRows<T> o, std::int64_t kernel_height) {
    for (std::int64_t column = 0; column < o.columns; column += V * L) {
        outer_rows_kernel<T, L, V>(o, kernel_height);
        o.diff += V * L;
        o.sums += V * L;
    }
}

template <class T>
void outer_rows_band(const OuterRows<T>& o, std::int64_t kernel_height) {
    const std::int64_t bytes = o.columns * std::int64_t(sizeof(T));
#if defined(__AVX512F__)
    constexpr int L = 64 / sizeof(T);
    if (bytes % 128 == 0) return outer_rows_columns<T, L, 2>(o, kernel_height);
    if (bytes % 64 == 0) return outer_rows_columns<T, L, 1>(o, kernel_height);
    outer_rows_columns<T, L / 2, 1>(o, kernel_height);
#elif defined(__AVX2__)
    outer_rows_columns<T, 32 / sizeof(T), 1>(o, kernel_height);
    static_cast<void>(bytes);
#else
    outer_rows_columns<T, 16 / sizeof(T), 1>(o, kernel_height);
    static_cast<void>(bytes);
#endif
}

/// sums[f] += the column sums of `count` rows of `width` values; in blocks summed in T, few enough
/// to lose nothing that matters beside the rounding of the values themselves, then in double.
template <class T>
void add_columns(const T* rows, std::int64_t count, std::int64_t width, double* sums) {
    constexpr int D = kLanes<double>;
    if (width < D && D % width == 0 && count * width >= 4 * D) {
        // Several narrow rows are one wide row.
        double wide[D] = {};
        const std::int64_t whole = count * width / D;
        add_columns(rows, whole, std::int64_t{D}, wide);
        for (std::int64_t i = 0; i < D; ++i)
            sums[i % width] += wide[i];
        rows += whole * D;
        count -= whole * D / width;
    }
    std::int64_t j = 0;
    for (; j + D <= width; j += D) {
        Vector<double, D> s[2] = {load<double, D>(sums + j), Vector<double, D>{}};
        std::int64_t i = 0;
        for (; i + 4 <= count; i += 4) {
            const T* at = rows + i * width + j;
            const auto low = load<T, D>(at) + load<T, D>(at + width);
            const auto high = load<T, D>(at + 2 * width) + load<T, D>(at + 3 * width);
            s[0] += __builtin_convertvector(low, Vector<double, D>);
            s[1] += __builtin_convertvector(high, Vector<double, D>);
        }
        for (; i < count; ++i) {
            s[0] += __builtin_convertvector((load<T, D>(rows + i * width + j)), Vector<double, D>);
        }
        store<double, D>(sums + j, s[0] + s[1]);
    }
    for (; j < width; ++j) {
        for (std::int64_t i = 0; i < count; ++i)
            sums[j] += rows[i * width + j];
    }
}

template <class T>
void backward_weights_rows(const Conv2dBackwardWeightsArguments<T>& a, ThreadTeam& team) {
    const ConvShape& s = a.shape;
    const RowsOuterWorkspace layout(s, sizeof(T), team.size());
    const std::int64_t bands = (s.out_height + layout.band - 1) / layout.band;
    const std::int64_t columns = s.filters * layout.pixels;
    const std::int64_t length = layout.taps * s.channels;
    const auto scratch = [&](std::int64_t member) {
        return a.workspace.data() + member * layout.bytes_per_thread;
    };
    const auto sums_of = [&](std::int64_t member) {
        return reinterpret_cast<T*>(scratch(member) + layout.sums);
    };
    const auto bias_of = [&](std::int64_t member) {
        return reinterpret_cast<double*>(scratch(member) + layout.bias);
    };
    team.run([&](int member) {
        auto* padded = reinterpret_cast<T*>(scratch(member));
        T* sums = sums_of(member);
        for (T* at = padded; at < sums; ++at)
            *at = T(0);
        for (std::int64_t i = 0; i < s.kernel_height * length * columns; ++i)
            sums[i] = T(0);
        for (std::int64_t f = 0; f < s.filters; ++f)
            bias_of(member)[f] = 0;
        OuterRows<T> o;
        o.padded = padded;
        o.sums = sums;
        o.groups = s.out_width / layout.pixels;
        o.row = layout.row;
        o.step = layout.pixels * s.channels;
        o.columns = columns;
        o.length = length;
        const std::int64_t last = s.batch * bands * (member + 1) / team.size();
        for (std::int64_t item = s.batch * bands * member / team.size(); item < last; ++item) {
            const std::int64_t n = item / bands;
            const std::int64_t begin = item % bands * layout.band;
            const std::int64_t end =
                begin + layout.band < s.out_height ? begin + layout.band : s.out_height;
            pad_rows(a.src, s.height, s.width, s.channels, n, begin - s.pad_top,
                     end - begin + s.kernel_height - 1, s.pad_left, layout.row, padded);
            o.diff = a.diff_dst + (n * s.out_height + begin) * s.out_width * s.filters;
            o.rows = end - begin;
            outer_rows_band(o, s.kernel_height);
            if (a.diff_bias) {
                add_columns(o.diff, o.rows * s.out_width, s.filters, bias_of(member));
            }
        }
    });
    // Value x of a kernel row, pixel p of a group: tap x - p.
    for (std::int64_t ky = 0; ky < s.kernel_height; ++ky) {
        for (std::int64_t kx = 0; kx < s.kernel_width; ++kx) {
            for (std::int64_t c = 0; c < s.channels; ++c) {
                for (std::int64_t f = 0; f < s.filters; ++f) {
                    T sum = T(0);
                    for (std::int64_t member = 0; member < team.size(); ++member) {
                        for (std::int64_t p = 0; p < layout.pixels; ++p) {
                            const std::int64_t value = ky * length + (kx + p) * s.channels + c;
                            sum += sums_of(member)[value * columns + p * s.filters + f];
                        }
                    }
                    a.diff_weights[((ky * s.kernel_width + kx) * s.channels + c) * s.filters + f] =
                        sum;
                }
            }
        }
    }
    if (!a.diff_bias) return;
    for (std::int64_t f = 0; f < s.filters; ++f) {
        double sum = 0;
        for (std::int64_t member = 0; member < team.size(); ++member)
            sum += bias_of(member)[f];
        a.diff_bias[f] = static_cast<T>(sum);
    }
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
