#include "kernels/update.hpp"

#include <cmath>

#include "kernels/cpu/simd.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

constexpr std::int64_t kGrain = 4096;

template <bool momentum, bool nesterov, class T>
void sgd(const SgdUpdateArguments<T>& a, ThreadTeam& team) {
    const T rate = *a.learning_rate, decay = T(a.weight_decay), keep = T(a.momentum);
    // Copies: the results may overwrite the sources, but never these pointers, which the compiler
    // cannot know.
    const T *const weights = a.weights, *const diff = a.diff, *const velocity = a.velocity;
    T *const new_weights = a.new_weights, *const new_velocity = a.new_velocity;
    team.for_ranges(a.count, kGrain, [=](std::int64_t begin, std::int64_t end, int) {
#pragma GCC ivdep
        for (std::int64_t i = begin; i < end; ++i) {
            const T w = weights[i];
            const T g = diff[i] + decay * w;
            T change = g;
            if constexpr (momentum) {
                const T v = keep * velocity[i] + g;
                new_velocity[i] = v;
                change = nesterov ? g + keep * v : v;
            }
            new_weights[i] = w - rate * change;
        }
    });
}

}  // namespace

template <class T>
void sgd_update_fused(const SgdUpdateArguments<T>& a, ThreadTeam& team) {
    if (a.velocity == nullptr) {
        sgd<false, false>(a, team);
    } else if (a.nesterov) {
        sgd<true, true>(a, team);
    } else {
        sgd<true, false>(a, team);
    }
}

template <class T>
void adam_update_fused(const AdamUpdateArguments<T>& a, ThreadTeam& team) {
    const auto t = double(*a.step + 1);
    const T rate = T(double(*a.learning_rate) / (1 - std::pow(a.beta1, t)));
    const T deviation = T(1 / std::sqrt(1 - std::pow(a.beta2, t)));
    const T beta1 = T(a.beta1), rest1 = T(1 - a.beta1), beta2 = T(a.beta2), rest2 = T(1 - a.beta2);
    const T decay = T(a.weight_decay), epsilon = T(a.epsilon);
    const T *const weights = a.weights, *const diff = a.diff;
    const T *const first = a.first_moment, *const second = a.second_moment;
    T *const new_weights = a.new_weights, *const new_first = a.new_first_moment;
    T* const new_second = a.new_second_moment;
    team.for_ranges(a.count, kGrain, [=](std::int64_t begin, std::int64_t end, int) {
#pragma GCC ivdep
        for (std::int64_t i = begin; i < end; ++i) {
            const T w = weights[i];
            const T g = diff[i] + decay * w;
            const T m = beta1 * first[i] + rest1 * g;
            const T v = beta2 * second[i] + rest2 * g * g;
            new_first[i] = m;
            new_second[i] = v;
            new_weights[i] = w - rate * m / (std::sqrt(v) * deviation + epsilon);
        }
    });
}

DTNN_KERNEL(sgd_update_fused, SgdUpdateArguments)
DTNN_KERNEL(adam_update_fused, AdamUpdateArguments)

}  // namespace dtnn::kernels::DTNN_ISA
