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
template <class T>
struct LambTerms {
    UpdateTerms<T> common;
    const LayerwiseStep* step;
    double beta1, beta2, epsilon;
    const T *first, *second;

    struct Element {
        double m, v, change;
    };
    DTNN_DEVICE Element at(std::int64_t i) const {
        const double g = common.clipped_gradient(i);
        const double m = beta1 * double(first[i]) + (1 - beta1) * g;
        const double v = beta2 * double(second[i]) + (1 - beta2) * g * g;
        const double change =
            (m / step->correction1) / (std::sqrt(v / step->correction2) + epsilon) +
            common.weight_decay * double(common.weights[i]);
        return {m, v, change};
    }
};

}  // namespace

template <class T>
void lars_update_chunks(const LarsUpdateArguments<T>& a, const Launch& launch) {
    const UpdateTerms<T> common(a);
    const double momentum = a.momentum, trust = a.trust_coefficient, epsilon = a.epsilon;
    const bool adaptive = a.adaptive;
    LayerwiseStep* const step = reinterpret_cast<LayerwiseStep*>(a.sums);
    if (adaptive) {
        reduce_all<2>(
            launch, a.count, sums_behind_step(a.sums),
            [=] DTNN_DEVICE(std::int64_t i) {
                const double w = double(common.weights[i]), g = common.clipped_gradient(i);
                return Sums<2>{{w * w, g * g}};
            },
            [=] DTNN_DEVICE(const Sums<2>& sums) {
                const double norm = std::sqrt(sums.of[0]);
                const double divisor = std::sqrt(sums.of[1]) + common.weight_decay * norm + epsilon;
                step->ratio = norm > 0 && divisor > 0 ? trust * norm / divisor : 1;
            });
    }
    const T* const velocity = a.velocity;
    T* const new_velocity = a.new_velocity;
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) {
        if (common.skips()) {
            common.leave(velocity, new_velocity, i);
            return common.leave(i);
        }
        const double w = double(common.weights[i]), ratio = adaptive ? step->ratio : 1;
        const double u =
            momentum * double(velocity[i]) +
            common.rate() * ratio * (common.clipped_gradient(i) + common.weight_decay * w);
        new_velocity[i] = T(u);
        common.new_weights[i] = T(w - u);
    });
}

template <class T>
void lamb_update_chunks(const LambUpdateArguments<T>& a, const Launch& launch) {
    LayerwiseStep* const step = reinterpret_cast<LayerwiseStep*>(a.sums);
    const UpdateTerms<T> common(a);
    const LambTerms<T> terms{common,    step,           a.beta1,        a.beta2,
                             a.epsilon, a.first_moment, a.second_moment};
    const std::int64_t* const update = a.update;
    launch.each(1, [=] DTNN_DEVICE(std::int64_t) {
        const double t = double(*update + 1);
        *step = {1, 1 - std::pow(terms.beta1, t), 1 - std::pow(terms.beta2, t)};
    });
    if (a.adaptive) {
        reduce_all<2>(
            launch, a.count, sums_behind_step(a.sums),
            [=] DTNN_DEVICE(std::int64_t i) {
                const double w = double(terms.common.weights[i]), change = terms.at(i).change;
                return Sums<2>{{w * w, change * change}};
            },
            [=] DTNN_DEVICE(const Sums<2>& sums) {
                const double weights = std::sqrt(sums.of[0]), changes = std::sqrt(sums.of[1]);
                if (weights > 0 && changes > 0) step->ratio = weights / changes;
            });
    }
    T *const new_first = a.new_first_moment, *const new_second = a.new_second_moment;
    launch.each(a.count, [=] DTNN_DEVICE(std::int64_t i) {
        if (terms.common.skips()) {
            terms.common.leave(terms.first, new_first, i);
            terms.common.leave(terms.second, new_second, i);
            return terms.common.leave(i);
        }
        const typename LambTerms<T>::Element element = terms.at(i);
        new_first[i] = T(element.m);
        new_second[i] = T(element.v);
        terms.common.new_weights[i] =
            T(double(terms.common.weights[i]) - terms.common.rate() * step->ratio * element.change);
    });
}

DTNN_CUDA_KERNEL(lars_update_chunks, LarsUpdateArguments)
DTNN_CUDA_KERNEL(lamb_update_chunks, LambUpdateArguments)

}  // namespace dtnn::kernels::cuda
