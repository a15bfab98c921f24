#include "kernels/arguments/softmax.hpp"

#include <cmath>

#include "kernels/cpu/simd.hpp"
#include "kernels/cpu/softmax_row.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

std::int64_t rows_per_thread(std::int64_t channels) {
    return channels >= 1024 ? 1 : 1024 / channels;
}

}  // namespace

template <class T>
void softmax_rows(const SoftmaxArguments<T>& a, ThreadTeam& team) {
    const std::int64_t channels = a.src_layout.channels;
    team.for_ranges(a.src_layout.pixels(), rows_per_thread(channels),
                    [&](auto begin, auto end, int) {
                        for (std::int64_t row = begin; row < end; ++row) {
                            const std::int64_t at = row * channels;
                            softmax_row(a.src + at, a.dst + at, channels);
                        }
                    });
}

template <class T>
void softmax_backward_rows(const SoftmaxBackwardArguments<T>& a, ThreadTeam& team) {
    const std::int64_t channels = a.dst_layout.channels;
    team.for_ranges(a.dst_layout.pixels(), rows_per_thread(channels),
                    [&](auto begin, auto end, int) {
                        for (std::int64_t row = begin; row < end; ++row) {
                            const T* const y = a.dst + row * channels;
                            const T* const diff = a.diff_dst + row * channels;
                            T* const result = a.diff_src + row * channels;
                            double dot = 0;
#pragma omp simd reduction(+ : dot)
                            for (std::int64_t c = 0; c < channels; ++c) {
                                dot += double(y[c]) * double(diff[c]);
                            }
#pragma GCC ivdep
                            for (std::int64_t c = 0; c < channels; ++c) {
                                result[c] = T(double(y[c]) * (double(diff[c]) - dot));
                            }
                        }
                    });
}

DTNN_KERNEL(softmax_rows, SoftmaxArguments)
DTNN_KERNEL(softmax_backward_rows, SoftmaxBackwardArguments)

}  // namespace dtnn::kernels::DTNN_ISA
