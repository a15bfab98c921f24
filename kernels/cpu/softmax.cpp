#include "kernels/arguments/softmax.hpp"

#include <cmath>

#include "kernels/cpu/exponential.hpp"
#include "kernels/cpu/lines.hpp"
#include "kernels/cpu/row_sums.hpp"
#include "kernels/cpu/softmax_row.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// The largest number and the sum of each line of a strip.
template <class T>
struct StripNumbers {
    alignas(64) T largest[kStripLines];
    alignas(64) double sum[kStripLines];

    void clear() {
        for (double& value : sum)
            value = 0;
    }
    /// The largest of each line of x.
    DTNN_INLINE void find_largest(const AxisView& view, const Strip& strip, const T* x) {
        for (std::int64_t i = 0; i < strip.width; ++i)
            largest[i] = x[strip.at + i];
        for_strip<T>(view, strip, [&](auto lanes, std::int64_t at, std::int64_t i) {
            using V = decltype(lanes);
            const auto value = V::load(x + at), most = V::load(largest + i);
            V::store(largest + i, value > most ? value : most);
        });
    }
};

}  // namespace

DTNN_KERNEL(softmax_rows, SoftmaxArguments) {
    const std::int64_t channels = a.src_view.extent;
    for_rows(a.src_view, team,
             [&](std::int64_t, std::int64_t at) { softmax_row(a.src + at, a.dst + at, channels); });
}

DTNN_KERNEL(softmax_backward_rows, SoftmaxBackwardArguments) {
    const std::int64_t channels = a.kept_view.extent;
    for_rows(a.kept_view, team, [&](std::int64_t, std::int64_t at) {
        const T* const y = a.kept + at;
        const T* const diff = a.diff_dst + at;
        T* const result = a.diff_src + at;
        double dot = 0;
#pragma omp simd reduction(+ : dot)
        for (std::int64_t c = 0; c < channels; ++c) {
            dot += double(y[c]) * double(diff[c]);
        }
#pragma GCC ivdep
        for (std::int64_t c = 0; c < channels; ++c) {
            result[c] = T(double(y[c]) * (double(diff[c]) - dot));
        }
    });
}

DTNN_KERNEL(log_softmax_rows, SoftmaxArguments) {
    const std::int64_t channels = a.src_view.extent;
    for_rows(a.src_view, team, [&](std::int64_t, std::int64_t at) {
        const T* const x = a.src + at;
        T* const y = a.dst + at;
        T largest = x[0];
        for (std::int64_t c = 1; c < channels; ++c)
            largest = x[c] > largest ? x[c] : largest;
        double sum[1] = {};
        row_sums<T>(channels, sum, [&](auto lanes, std::int64_t c, auto& sums) {
            using V = decltype(lanes);
            sums[0] += V::to_double(exponential(lanes, V::load(x + c) - V::broadcast(largest)));
        });
        const T logarithm = T(std::log(sum[0]));
#pragma GCC ivdep
        for (std::int64_t c = 0; c < channels; ++c)
            y[c] = (x[c] - largest) - logarithm;
    });
}

DTNN_KERNEL(log_softmax_backward_rows, SoftmaxBackwardArguments) {
    const std::int64_t channels = a.kept_view.extent;
    for_rows(a.kept_view, team, [&](std::int64_t, std::int64_t at) {
        const T* const y = a.kept + at;
        const T* const diff = a.diff_dst + at;
        T* const result = a.diff_src + at;
        double sum[1] = {};
        row_sums<T>(channels, sum, [&](auto lanes, std::int64_t c, auto& sums) {
            using V = decltype(lanes);
            sums[0] += V::to_double(V::load(diff + c));
        });
        const T all = T(sum[0]);
        for_channels<T>(channels, [&](auto lanes, std::int64_t c) {
            using V = decltype(lanes);
            V::store(result + c,
                     V::load(diff + c) - exponential(lanes, V::load(y + c)) * V::broadcast(all));
        });
    });
}

DTNN_KERNEL(softmax_columns, SoftmaxArguments) {
    const AxisView& view = a.src_view;
    for_strips(view, team, [&](const Strip& strip) {
        StripNumbers<T> numbers;
        numbers.clear();
        numbers.find_largest(view, strip, a.src);
        for_strip<T>(view, strip, [&](auto lanes, std::int64_t at, std::int64_t i) {
            using V = decltype(lanes);
            const auto y = exponential(lanes, V::load(a.src + at) - V::load(numbers.largest + i));
            V::store(a.dst + at, y);
            add_lanes(numbers.sum, i, V::to_double(y));
        });
        for (std::int64_t i = 0; i < strip.width; ++i)
            numbers.sum[i] = 1 / numbers.sum[i];
        for (std::int64_t e = 0; e < view.extent; ++e) {
            T* const y = a.dst + strip.at + e * view.inner;
#pragma GCC ivdep
            for (std::int64_t i = 0; i < strip.width; ++i)
                y[i] = T(double(y[i]) * numbers.sum[i]);
        }
    });
}

DTNN_KERNEL(softmax_backward_columns, SoftmaxBackwardArguments) {
    const AxisView& view = a.kept_view;
    for_strips(view, team, [&](const Strip& strip) {
        StripNumbers<T> numbers;
        numbers.clear();
        for_strip<T>(view, strip, [&](auto lanes, std::int64_t at, std::int64_t i) {
            using V = decltype(lanes);
            add_lanes(numbers.sum, i,
                      V::to_double(V::load(a.kept + at)) * V::to_double(V::load(a.diff_dst + at)));
        });
        for (std::int64_t e = 0; e < view.extent; ++e) {
            const std::int64_t at = strip.at + e * view.inner;
#pragma GCC ivdep
            for (std::int64_t i = 0; i < strip.width; ++i)
                a.diff_src[at + i] =
                    T(double(a.kept[at + i]) * (double(a.diff_dst[at + i]) - numbers.sum[i]));
        }
    });
}

DTNN_KERNEL(log_softmax_columns, SoftmaxArguments) {
    const AxisView& view = a.src_view;
    for_strips(view, team, [&](const Strip& strip) {
        StripNumbers<T> numbers;
        numbers.clear();
        numbers.find_largest(view, strip, a.src);
        for_strip<T>(view, strip, [&](auto lanes, std::int64_t at, std::int64_t i) {
            using V = decltype(lanes);
            add_lanes(numbers.sum, i,
                      V::to_double(
                          exponential(lanes, V::load(a.src + at) - V::load(numbers.largest + i))));
        });
        alignas(64) T logarithm[kStripLines];
        for (std::int64_t i = 0; i < strip.width; ++i)
            logarithm[i] = T(std::log(numbers.sum[i]));
        for_strip<T>(view, strip, [&](auto lanes, std::int64_t at, std::int64_t i) {
            using V = decltype(lanes);
            V::store(a.dst + at,
                     (V::load(a.src + at) - V::load(numbers.largest + i)) - V::load(logarithm + i));
        });
    });
}

DTNN_KERNEL(log_softmax_backward_columns, SoftmaxBackwardArguments) {
    const AxisView& view = a.kept_view;
    for_strips(view, team, [&](const Strip& strip) {
        StripNumbers<T> numbers;
        numbers.clear();
        for_strip<T>(view, strip, [&](auto lanes, std::int64_t at, std::int64_t i) {
            using V = decltype(lanes);
            add_lanes(numbers.sum, i, V::to_double(V::load(a.diff_dst + at)));
        });
        T* const all = numbers.largest;
        for (std::int64_t i = 0; i < strip.width; ++i)
            all[i] = T(numbers.sum[i]);
        for_strip<T>(view, strip, [&](auto lanes, std::int64_t at, std::int64_t i) {
            using V = decltype(lanes);
            V::store(a.diff_src + at,
                     V::load(a.diff_dst + at) -
                         exponential(lanes, V::load(a.kept + at)) * V::load(all + i));
        });
    });
}

}  // namespace dtnn::kernels::DTNN_ISA
