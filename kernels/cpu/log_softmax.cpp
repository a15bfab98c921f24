#include <cmath>

#include "kernels/cpu/exponential.hpp"
#include "kernels/cpu/row_sums.hpp"
#include "kernels/arguments/softmax.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

std::int64_t rows_per_thread(std::int64_t channels) {
    return channels >= 1024 ? 1 : 1024 / channels;
}

}  // namespace

template <class T>
void log_softmax_rows(const SoftmaxArguments<T>& a, ThreadTeam& team) {
    const std::int64_t channels = a.src_layout.channels;
    team.for_ranges(
        a.src_layout.pixels(), rows_per_thread(channels), [&](auto begin, auto end, int) {
            for (std::int64_t row = begin; row < end; ++row) {
                const T* const x = a.src + row * channels;
                T* const y = a.dst + row * channels;
                T largest = x[0];
                for (std::int64_t c = 1; c < channels; ++c)
                    largest = x[c] > largest ? x[c] : largest;
                double sum[1] = {};
                row_sums<T>(channels, sum, [&](auto lanes, std::int64_t c, auto& sums) {
                    using V = decltype(lanes);
                    sums[0] +=
                        V::to_double(exponential(lanes, V::load(x + c) - V::broadcast(largest)));
                });
                const T logarithm = T(std::log(sum[0]));
#pragma GCC ivdep
                for (std::int64_t c = 0; c < channels; ++c)
                    y[c] = (x[c] - largest) - logarithm;
            }
        });
}

template <class T>
void log_softmax_backward_rows(const SoftmaxBackwardArguments<T>& a, ThreadTeam& team) {
    const std::int64_t channels = a.dst_layout.channels;
    team.for_ranges(
        a.dst_layout.pixels(), rows_per_thread(channels), [&](auto begin, auto end, int) {
            for (std::int64_t row = begin; row < end; ++row) {
                const T* const y = a.dst + row * channels;
                const T* const diff = a.diff_dst + row * channels;
                T* const result = a.diff_src + row * channels;
                double sum[1] = {};
                row_sums<T>(channels, sum, [&](auto lanes, std::int64_t c, auto& sums) {
                    using V = decltype(lanes);
                    sums[0] += V::to_double(V::load(diff + c));
                });
                const T all = T(sum[0]);
                for_channels<T>(channels, [&](auto lanes, std::int64_t c) {
                    using V = decltype(lanes);
                    V::store(result + c, V::load(diff + c) - exponential(lanes, V::load(y + c)) *
                                                                 V::broadcast(all));
                });
            }
        });
}

DTNN_KERNEL(log_softmax_rows, SoftmaxArguments)
DTNN_KERNEL(log_softmax_backward_rows, SoftmaxBackwardArguments)

}  // namespace dtnn::kernels::DTNN_ISA
