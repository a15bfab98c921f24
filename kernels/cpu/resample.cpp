/// Weighted sums of cells, axis by axis, and adaptive pools: one row of results is a unit of work,
/// vectors run along the channels. Every result is summed in the order of its taps, so results do
/// not depend on the number of threads.

#include "kernels/arguments/resample.hpp"

#include "kernels/cpu/lines.hpp"
#include "kernels/cpu/row_sums.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Rows of about what is worth a thread, in elements.
std::int64_t resample_grain(std::int64_t row_elements) {
    return row_elements >= 4096 ? 1 : 4096 / (row_elements < 1 ? 1 : row_elements);
}

/// The taps of one result, without the vectors' containers in between.
template <class T>
struct Taps {
    const std::int64_t* source;
    const T* weight;
    std::int64_t count;

    Taps(const AxisTaps<T>& axis, std::int64_t result) {
        const std::int64_t* const first = axis.first.data() + result;
        source = axis.source.data() + first[0];
        weight = axis.weight.data() + first[0];
        count = first[1] - first[0];
    }
};

template <class T>
DTNN_INLINE void clear(T* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
        to[i] = 0;
}

/// One pixel of `count` channels; `src` is the sample's first pixel at the first of them.
template <class T>
void resample_pixel(const Taps<T>& y, const Taps<T>& x, const T* src, std::int64_t row_step,
                    std::int64_t pixel_step, T* dst, std::int64_t count) {
    if (y.count == 0 || x.count == 0) return clear(dst, count);
    if (y.count == 1 && x.count == 1 && y.weight[0] == 1 && x.weight[0] == 1) {
        const T* const from = src + y.source[0] * row_step + x.source[0] * pixel_step;
        for_channels<T>(count, [&](auto lanes, std::int64_t c) {
            using V = decltype(lanes);
            V::store(dst + c, V::load(from + c));
        });
        return;
    }
    for_channels<T>(count, [&](auto lanes, std::int64_t c) {
        using V = decltype(lanes);
        auto sum = V::zero();
        for (std::int64_t i = 0; i < y.count; ++i) {
            const T* const line = src + y.source[i] * row_step + c;
            auto row = V::zero();
            for (std::int64_t j = 0; j < x.count; ++j) {
                row += V::load(line + x.source[j] * pixel_step) * V::broadcast(x.weight[j]);
            }
            sum += row * V::broadcast(y.weight[i]);
        }
        V::store(dst + c, sum);
    });
}

template <class T>
void resample(const ResampleArguments<T>& a, ThreadTeam& team) {
    const ImageLayout& in = a.src_layout;
    const ImageLayout& out = a.dst_layout;
    const std::int64_t rows = out.batch * out.height;
    const std::int64_t row_step = in.width * in.channels;
    team.for_pieces(rows, resample_grain(out.width * out.channels), [&](auto from, auto to, int) {
        for (std::int64_t row = from; row < to; ++row) {
            const Taps<T> y(a.y, row % out.height);
            const T* const src = a.src + row / out.height * in.height * row_step;
            T* dst = a.dst + row * out.width * out.channels;
            for (std::int64_t ow = 0; ow < out.width; ++ow, dst += out.channels) {
                resample_pixel(y, Taps<T>(a.x, ow), src, row_step, in.channels, dst, out.channels);
            }
        }
    });
}

/// 32-bit numbers as integers of the lanes' width, and back.
template <class V>
DTNN_INLINE typename V::Ints load_int32(const std::int32_t* from) {
    typename V::Ints value;
    for (int lane = 0; lane < V::kLanes; ++lane)
        value[lane] = from[lane];
    return value;
}
template <class V>
DTNN_INLINE void store_int32(std::int32_t* to, typename V::Ints value) {
    for (int lane = 0; lane < V::kLanes; ++lane)
        to[lane] = std::int32_t(value[lane]);
}

}  // namespace

#define DTNN_RESAMPLE(op)                                \
    DTNN_KERNEL(op##_channels_last, ResampleArguments) { \
        resample(a, team);                               \
    }
DTNN_RESAMPLE(zero_pad2d)
DTNN_RESAMPLE(zero_pad2d_backward)
DTNN_RESAMPLE(upsample2d)
DTNN_RESAMPLE(upsample2d_backward)
DTNN_RESAMPLE(adaptive_avg_pool2d)
DTNN_RESAMPLE(adaptive_avg_pool2d_backward)
#undef DTNN_RESAMPLE

DTNN_KERNEL(adaptive_max_pool2d_channels_last, AdaptiveMaxArguments) {
    const ImageLayout& in = a.src_layout;
    const ImageLayout& out = a.dst_layout;
    const std::int64_t channels = in.channels, rows = out.batch * out.height;
    team.for_pieces(rows, resample_grain(in.width * channels), [&](auto from, auto to, int) {
        for (std::int64_t row = from; row < to; ++row) {
            const Taps<T> y(a.y, row % out.height);
            const T* const src = a.src + row / out.height * in.pixels() / in.batch * channels;
            for (std::int64_t ow = 0; ow < out.width; ++ow) {
                const Taps<T> x(a.x, ow);
                const std::int64_t at = (row * out.width + ow) * channels;
                for_channels<T>(channels, [&](auto lanes, std::int64_t c) {
                    using V = decltype(lanes);
                    std::int64_t cell = y.source[0] * in.width + x.source[0];
                    auto best = V::load(src + cell * channels + c);
                    auto index = V::broadcast_int(typename V::Int(cell));
                    for (std::int64_t i = 0; i < y.count; ++i) {
                        for (std::int64_t j = 0; j < x.count; ++j) {
                            cell = y.source[i] * in.width + x.source[j];
                            const auto value = V::load(src + cell * channels + c);
                            const auto larger = (value > best) | (value != value);
                            best = larger ? value : best;
                            index = larger ? V::broadcast_int(typename V::Int(cell)) : index;
                        }
                    }
                    V::store(a.dst + at + c, best);
                    if (a.indices) store_int32<V>(a.indices + at + c, index);
                });
            }
        }
    });
}

DTNN_KERNEL(adaptive_max_pool2d_backward_channels_last, AdaptiveMaxBackwardArguments) {
    const ImageLayout& in = a.diff_src_layout;
    const ImageLayout& out = a.diff_dst_layout;
    const std::int64_t channels = in.channels, rows = in.batch * in.height;
    team.for_pieces(rows, resample_grain(in.width * channels), [&](auto from, auto to, int) {
        for (std::int64_t row = from; row < to; ++row) {
            const std::int64_t n = row / in.height, h = row % in.height;
            const Taps<T> y(a.y, h);
            for (std::int64_t w = 0; w < in.width; ++w) {
                const Taps<T> x(a.x, w);
                T* const diff_src = a.diff_src + (row * in.width + w) * channels;
                for_channels<T>(channels, [&](auto lanes, std::int64_t c) {
                    using V = decltype(lanes);
                    const auto own = V::broadcast_int(typename V::Int(h * in.width + w));
                    auto sum = V::zero();
                    for (std::int64_t i = 0; i < y.count; ++i) {
                        for (std::int64_t j = 0; j < x.count; ++j) {
                            const std::int64_t at =
                                ((n * out.height + y.source[i]) * out.width + x.source[j]) *
                                    channels +
                                c;
                            const auto mine = load_int32<V>(a.indices + at) == own;
                            sum += mine ? V::load(a.diff_dst + at) : V::zero();
                        }
                    }
                    V::store(diff_src + c, sum);
                });
            }
        }
    });
}

DTNN_KERNEL(channel_sums_channels_last, ChannelSumsArguments) {
    const AxisView& view = a.src_view;
    const std::int64_t channels = view.extent, pixels = view.lines();
    if (view.inner > 1) {
        team.for_pieces(channels, line_grain(pixels), [&](auto from, auto to, int) {
            for (std::int64_t c = from; c < to; ++c) {
                double sum[1] = {};
                for (std::int64_t o = 0; o < view.outer; ++o) {
                    const T* const src = a.src + (o * channels + c) * view.inner;
                    row_sums<T>(view.inner, sum, [&](auto lanes, std::int64_t i, auto& sums) {
                        using V = decltype(lanes);
                        sums[0] += V::to_double(V::load(src + i));
                    });
                }
                a.dst[c] = T(sum[0]);
            }
        });
        return;
    }
    // Rounding of the short sums stays small, and the long ones are in double.
    constexpr std::int64_t kTogether = 256;
    team.for_pieces(channels, 64, [&](auto from, auto to, int) {
        for_channels<T>(to - from, [&](auto lanes, std::int64_t c) {
            using V = decltype(lanes);
            const T* const src = a.src + from + c;
            double total[V::kLanes] = {};
            for (std::int64_t first = 0; first < pixels; first += kTogether) {
                const std::int64_t end = first + kTogether < pixels ? first + kTogether : pixels;
                auto sum = V::zero();
                for (std::int64_t i = first; i < end; ++i)
                    sum += V::load(src + i * channels);
                for (int lane = 0; lane < V::kLanes; ++lane)
                    total[lane] += double(sum[lane]);
            }
            for (int lane = 0; lane < V::kLanes; ++lane)
                a.dst[from + c + lane] = T(total[lane]);
        });
    });
}

}  // namespace dtnn::kernels::DTNN_ISA
