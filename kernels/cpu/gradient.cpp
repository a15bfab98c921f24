#include "kernels/arguments/gradient.hpp"

#include "kernels/cpu/norm_chunks.hpp"
#include "kernels/cpu/update_terms.hpp"

namespace dtnn::kernels::DTNN_ISA {

DTNN_KERNEL(gradient_square_sum_chunks, GradientSquareSumArguments) {
    const T* const diff = a.diff;
    double sum[1];
    chunked_sums<T, 1>(a.count, a.sums, sum, team, [=](auto lanes, std::int64_t i, auto& sums) {
        using L = decltype(lanes);
        const auto x = L::to_double(L::load(diff + i));
        sums[0] += x * x;
    });
    *a.dst = sum[0];
}

DTNN_KERNEL(accumulate_gradient_fused, GradientSumArguments) {
    const T *const sum = a.sum, *const diff = a.diff;
    T* const new_sum = a.new_sum;
    team.for_pieces(a.count, kUpdateGrain, [=](std::int64_t begin, std::int64_t end, int) {
#pragma GCC ivdep
        for (std::int64_t i = begin; i < end; ++i)
            new_sum[i] = sum[i] + diff[i];
    });
}

DTNN_KERNEL(take_gradient_sum_fused, GradientSumArguments) {
    const T *const sum = a.sum, *const diff = a.diff;
    T *const new_sum = a.new_sum, *const total = a.total;
    team.for_pieces(a.count, kUpdateGrain, [=](std::int64_t begin, std::int64_t end, int) {
#pragma GCC ivdep
        for (std::int64_t i = begin; i < end; ++i) {
            total[i] = sum[i] + diff[i];
            new_sum[i] = T(0);
        }
    });
}

DTNN_KERNEL(weigh_gradient_flat, WeighGradientArguments) {
    const T weight = *a.batch_weight;
    const T* const diff = a.diff;
    T* const dst = a.dst;
    team.for_pieces(a.count, kUpdateGrain, [=](std::int64_t begin, std::int64_t end, int) {
#pragma GCC ivdep
        for (std::int64_t i = begin; i < end; ++i)
            dst[i] = weight * diff[i];
    });
}

DTNN_KERNEL(moving_average_fused, MovingAverageArguments) {
    const T decay = T(a.decay), rest = T(1 - a.decay);
    const T *const average = a.average, *const weights = a.weights;
    T* const new_average = a.new_average;
    team.for_pieces(a.count, kUpdateGrain, [=](std::int64_t begin, std::int64_t end, int) {
#pragma GCC ivdep
        for (std::int64_t i = begin; i < end; ++i)
            new_average[i] = decay * average[i] + rest * weights[i];
    });
}

}  // namespace dtnn::kernels::DTNN_ISA
