#include "kernels/arguments/softmax.hpp"

#include <cmath>

#include "kernels/cpu/exponential.hpp"
#include "kernels/cpu/row_sums.hpp"
#include "kernels/cpu/softmax_row.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Calls body(at) for every row: where its first number lies.
template <class Body>
DTNN_INLINE void for_rows(const ImageLayout& image, ThreadTeam& team, Body body) {
    const std::int64_t channels = image.channels;
    const std::int64_t grain = channels >= 1024 ? 1 : 1024 / channels;
    team.for_pieces(image.pixels(), grain, [&](auto begin, auto end, int) {
        for (std::int64_t row = begin; row < end; ++row)
            body(row * channels);
    });
}

}  // namespace

template <class T>
void softmax_rows(const SoftmaxArguments<T>& a, ThreadTeam& team) {
    const std::int64_t channels = a.src_layout.channels;
    for_rows(a.src_layout, team,
             [&](std::int64_t at) { softmax_row(a.src + at, a.dst + at, channels); });
}

template <class T>
void softmax_backward_rows(const SoftmaxBackwardArguments<T>& a, ThreadTeam& team) {
    const std::int64_t channels = a.kept_layout.channels;
    for_rows(a.kept_layout, team, [&](std::int64_t at) {
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

template <class T>
void log_softmax_rows(const SoftmaxArguments<T>& a, ThreadTeam& team) {
    const std::int64_t channels = a.src_layout.channels;
    for_rows(a.src_layout, team, [&](std::int64_t at) {
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

template <class T>
void log_softmax_backward_rows(const SoftmaxBackwardArguments<T>& a, ThreadTeam& team) {
    const std::int64_t channels = a.kept_layout.channels;
    for_rows(a.kept_layout, team, [&](std::int64_t at) {
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

DTNN_KERNEL(softmax_rows, SoftmaxArguments)
DTNN_KERNEL(softmax_backward_rows, SoftmaxBackwardArguments)
DTNN_KERNEL(log_softmax_rows, SoftmaxArguments)
DTNN_KERNEL(log_softmax_backward_rows, SoftmaxBackwardArguments)

}  // namespace dtnn::kernels::DTNN_ISA
