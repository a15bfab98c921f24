#include <cmath>

#include "kernels/arguments/gradient.hpp"
#include "kernels/cuda/members.hpp"
#include "kernels/cuda/reduce.hpp"

namespace dtnn::kernels::cuda {

DTNN_CUDA_KERNEL(gradient_square_sum_chunks, GradientSquareSumArguments) {
    reduce_all<1>(
        launch, a.count, reinterpret_cast<Sums<1>*>(a.sums),
        [=] DTNN_DEVICE(std::int64_t i) {
            return Sums<1>{{double(a.diff[i]) * double(a.diff[i])}};
        },
        [=] DTNN_DEVICE(const Sums<1>& sums) { *a.dst = sums.of[0]; });
}

DTNN_CUDA_KERNEL(gradient_scale_group, GradientScaleArguments) {
    const double clip_norm = a.clip_norm;
    const T* const loss_scale = a.loss_scale;
    const bool sums_count = clip_norm > 0 || loss_scale != nullptr;
    const auto count = sums_count ? std::int64_t(a.square_sums.size()) : 0;
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
            const double divisor = share * (loss_scale == nullptr ? 1 : double(*loss_scale));
            // Infinite, or not a number.
            if (loss_scale != nullptr && !(sums.of[0] - sums.of[0] == 0)) {
                *dst = T(NAN);
                return;
            }
            const double scale =
                clip_norm > 0 ? clip_norm / (std::sqrt(sums.of[0]) / divisor + 1e-6) : 1;
            *dst = T((scale > 1 ? 1 : scale) / divisor);
        });
}

DTNN_CUDA_KERNEL(adapt_loss_scale_each, AdaptLossScaleArguments) {
    const T interval = T(a.growth_interval);
    launch.each(1, [=] DTNN_DEVICE(std::int64_t) {
        const T old = *a.scale, done = *a.updates + 1;
        if (*a.factor != *a.factor) {
            *a.new_scale = old / 2 > T(kLeastLossScale) ? old / 2 : T(kLeastLossScale);
            *a.new_updates = 0;
            return;
        }
        const T larger = old * 2 < T(kMostLossScale) ? old * 2 : T(kMostLossScale);
        *a.new_scale = done >= interval ? larger : old;
        *a.new_updates = done >= interval ? T(0) : done;
    });
}

DTNN_CUDA_KERNEL_OF_MEMBERS(accumulate_gradient_each, GradientSumArguments) {
    each_of(on_device(a, launch), launch,
            [=] DTNN_DEVICE(const GradientSumArguments<T>& m, std::int64_t i) {
                m.new_sum[i] = T(double(m.sum[i]) + double(m.diff[i]));
            });
}

DTNN_CUDA_KERNEL_OF_MEMBERS(take_gradient_sum_each, GradientSumArguments) {
    each_of(on_device(a, launch), launch,
            [=] DTNN_DEVICE(const GradientSumArguments<T>& m, std::int64_t i) {
                m.total[i] = T(double(m.sum[i]) + double(m.diff[i]));
                m.new_sum[i] = T(0);
            });
}

DTNN_CUDA_KERNEL(weigh_gradient_each, WeighGradientArguments) {
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) {
        a.dst[i] = T(double(*a.batch_weight) * double(a.diff[i]));
    });
}

DTNN_CUDA_KERNEL_OF_MEMBERS(moving_average_each, MovingAverageArguments) {
    each_of(on_device(a, launch), launch,
            [=] DTNN_DEVICE(const MovingAverageArguments<T>& m, std::int64_t i) {
                m.new_average[i] =
                    T(m.decay * double(m.average[i]) + (1 - m.decay) * double(m.weights[i]));
            });
}

}  // namespace dtnn::kernels::cuda
