#include <cmath>

#include "kernels/arguments/gradient.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/reduce.hpp"

namespace dtnn::kernels::cuda {

template <class T>
void gradient_square_sum_chunks(const GradientSquareSumArguments<T>& a, const Launch& launch) {
    const T* const diff = a.diff;
    double* const dst = a.dst;
    reduce_all<1>(
        launch, a.count, reinterpret_cast<Sums<1>*>(a.sums),
        [=] DTNN_DEVICE(std::int64_t i) { return Sums<1>{{double(diff[i]) * double(diff[i])}}; },
        [=] DTNN_DEVICE(const Sums<1>& sums) { *dst = sums.of[0]; });
}

template <class T>
void gradient_scale_group(const GradientScaleArguments<T>& a, const Launch& launch) {
    const double clip_norm = a.clip_norm;
    const auto count = clip_norm > 0 ? std::int64_t(a.square_sums.size()) : 0;
    const double* const* const square_sums = launch.constant(a.square_sums);
    const T* const shares = a.shares;
    T* const dst = a.dst;
    reduce<1>(
        launch, 1, [=] DTNN_DEVICE(std::int64_t) { return count; },
        [=] DTNN_DEVICE(std::int64_t, std::int64_t k) { return Sums<1>{{*square_sums[k]}}; },
        [=] DTNN_DEVICE(std::int64_t, const Sums<1>& sums) {
            const double share = shares == nullptr ? 1 : double(*shares);
            if (share == 0) {
                *dst = T(0);
                return;
            }
            const double scale =
                clip_norm > 0 ? clip_norm / (std::sqrt(sums.of[0]) / share + 1e-6) : 1;
            *dst = T((scale > 1 ? 1 : scale) / share);
        });
}

template <class T>
void accumulate_gradient_each(const GradientSumArguments<T>& a, const Launch& launch) {
    const T *const sum = a.sum, *const diff = a.diff;
    T* const new_sum = a.new_sum;
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) {
        new_sum[i] = T(double(sum[i]) + double(diff[i]));
    });
}

template <class T>
void take_gradient_sum_each(const GradientSumArguments<T>& a, const Launch& launch) {
    const T *const sum = a.sum, *const diff = a.diff;
    T *const new_sum = a.new_sum, *const total = a.total;
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) {
        total[i] = T(double(sum[i]) + double(diff[i]));
        new_sum[i] = T(0);
    });
}

template <class T>
void weigh_gradient_each(const WeighGradientArguments<T>& a, const Launch& launch) {
    const T *const diff = a.diff, *const batch_weight = a.batch_weight;
    T* const dst = a.dst;
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) {
        dst[i] = T(double(*batch_weight) * double(diff[i]));
    });
}

template <class T>
void moving_average_each(const MovingAverageArguments<T>& a, const Launch& launch) {
    const double decay = a.decay;
    const T *const average = a.average, *const weights = a.weights;
    T* const new_average = a.new_average;
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) {
        new_average[i] = T(decay * double(average[i]) + (1 - decay) * double(weights[i]));
    });
}

DTNN_CUDA_KERNEL(gradient_square_sum_chunks, GradientSquareSumArguments)
DTNN_CUDA_KERNEL(gradient_scale_group, GradientScaleArguments)
DTNN_CUDA_KERNEL(accumulate_gradient_each, GradientSumArguments)
DTNN_CUDA_KERNEL(take_gradient_sum_each, GradientSumArguments)
DTNN_CUDA_KERNEL(weigh_gradient_each, WeighGradientArguments)
DTNN_CUDA_KERNEL(moving_average_each, MovingAverageArguments)

}  // namespace dtnn::kernels::cuda
