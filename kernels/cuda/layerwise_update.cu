#include <cmath>

#include "kernels/arguments/layerwise_update.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/reduce.hpp"
#include "kernels/cuda/update_terms.hpp"

namespace dtnn::kernels::cuda {
namespace {

/// The numbers of a step that are alike for all elements, at the head of the workspace
/// (catalogue/device.cpp: device_sums_of_update). The sums of chunks follow.
struct LayerwiseStep {
    double ratio, correction1, correction2;
};
constexpr int kNumbersOfStep = 8;
static_assert(sizeof(LayerwiseStep) <= kNumbersOfStep * sizeof(double));

Sums<2>* sums_behind_step(double* workspace) {
    return reinterpret_cast<Sums<2>*>(workspace + kNumbersOfStep);
}

/// An element of a step of lamb.
struct LambElement {
    double m, v, change;
};
template <class T>
DTNN_DEVICE LambElement lamb_element(const LambUpdateArguments<T>& a, const LayerwiseStep& step,
                                     std::int64_t i) {
    const double g = clipped_gradient(a, i);
    const double m = a.beta1 * double(a.first_moment[i]) + (1 - a.beta1) * g;
    const double v = a.beta2 * double(a.second_moment[i]) + (1 - a.beta2) * g * g;
    const double change = (m / step.correction1) / (std::sqrt(v / step.correction2) + a.epsilon) +
                          a.weight_decay * double(a.weights[i]);
    return {m, v, change};
}

}  // namespace

DTNN_CUDA_KERNEL(lars_update_chunks, LarsUpdateArguments) {
    LayerwiseStep* const step = reinterpret_cast<LayerwiseStep*>(a.sums);
    if (a.adaptive) {
        reduce_all<2>(
            launch, a.count, sums_behind_step(a.sums),
            [=] DTNN_DEVICE(std::int64_t i) {
                const double w = double(a.weights[i]), g = clipped_gradient(a, i);
                return Sums<2>{{w * w, g * g}};
            },
            [=] DTNN_DEVICE(const Sums<2>& sums) {
                const double norm = std::sqrt(sums.of[0]);
                const double divisor = std::sqrt(sums.of[1]) + a.weight_decay * norm + a.epsilon;
                step->ratio = norm > 0 && divisor > 0 ? a.trust_coefficient * norm / divisor : 1;
            });
    }
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) {
        if (a.skips()) {
            leave(a.velocity, a.new_velocity, i);
            return leave(a, i);
        }
        const double w = double(a.weights[i]), ratio = a.adaptive ? step->ratio : 1;
        const double u = a.momentum * double(a.velocity[i]) +
                         a.rate() * ratio * (clipped_gradient(a, i) + a.weight_decay * w);
        a.new_velocity[i] = T(u);
        a.new_weights[i] = T(w - u);
    });
}

DTNN_CUDA_KERNEL(lamb_update_chunks, LambUpdateArguments) {
    LayerwiseStep* const step = reinterpret_cast<LayerwiseStep*>(a.sums);
    launch.each(1, [=] DTNN_DEVICE(std::int64_t) {
        const double t = double(*a.update + 1);
        *step = {1, 1 - std::pow(a.beta1, t), 1 - std::pow(a.beta2, t)};
    });
    if (a.adaptive) {
        reduce_all<2>(
            launch, a.count, sums_behind_step(a.sums),
            [=] DTNN_DEVICE(std::int64_t i) {
                const double w = double(a.weights[i]), change = lamb_element(a, *step, i).change;
                return Sums<2>{{w * w, change * change}};
            },
            [=] DTNN_DEVICE(const Sums<2>& sums) {
                const double weights = std::sqrt(sums.of[0]), changes = std::sqrt(sums.of[1]);
                if (weights > 0 && changes > 0) step->ratio = weights / changes;
            });
    }
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) {
        if (a.skips()) {
            leave(a.first_moment, a.new_first_moment, i);
            leave(a.second_moment, a.new_second_moment, i);
            return leave(a, i);
        }
        const LambElement element = lamb_element(a, *step, i);
        a.new_first_moment[i] = T(element.m);
        a.new_second_moment[i] = T(element.v);
        a.new_weights[i] = T(double(a.weights[i]) - a.rate() * step->ratio * element.change);
    });
}

}  // namespace dtnn::kernels::cuda
