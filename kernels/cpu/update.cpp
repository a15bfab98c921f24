#include "kernels/arguments/update.hpp"

#include <cmath>

#include "kernels/cpu/update_terms.hpp"
#include "kernels/thread_team.hpp"

// The results may overwrite the sources, element by element, but never the pointers, which the
// compiler cannot know of members: every loop works on copies.

namespace dtnn::kernels::DTNN_ISA {
namespace {

template <bool momentum, bool nesterov, class T>
void sgd(const SgdUpdateArguments<T>& a, ThreadTeam& team) {
    const UpdateTerms<T> terms(a);
    const T keep_velocity = T(a.momentum);
    const T *const weights = a.weights, *const diff = a.diff, *const velocity = a.velocity;
    T *const new_weights = a.new_weights, *const new_velocity = a.new_velocity;
    team.for_pieces(a.count, kUpdateGrain,
                    [=](std::int64_t begin, std::int64_t end, int) DTNN_UPDATE_LOOP {
#pragma GCC ivdep
                        for (std::int64_t i = begin; i < end; ++i) {
                            const T w = weights[i];
                            const T g = terms.gradient(diff[i], w);
                            T change = g;
                            if constexpr (momentum) {
                                const T u = keep_velocity * velocity[i] + g;
                                new_velocity[i] = u;
                                change = nesterov ? g + keep_velocity * u : u;
                            }
                            new_weights[i] = terms.moved(w, terms.rate * change);
                        }
                    });
}

template <bool centered, bool momentum, class T>
void rmsprop(const RmspropUpdateArguments<T>& a, ThreadTeam& team) {
    const UpdateTerms<T> terms(a);
    const T rho = T(a.rho), rest = T(1 - a.rho), keep_velocity = T(a.momentum);
    const T inside = a.epsilon_inside_root ? T(a.epsilon) : T(0);
    const T outside = a.epsilon_inside_root ? T(0) : T(a.epsilon);
    const T *const weights = a.weights, *const diff = a.diff;
    const T *const second = a.second_moment, *const first = a.first_moment;
    const T* const velocity = a.velocity;
    T *const new_weights = a.new_weights, *const new_second = a.new_second_moment;
    T *const new_first = a.new_first_moment, *const new_velocity = a.new_velocity;
    team.for_pieces(a.count, kUpdateGrain,
                    [=](std::int64_t begin, std::int64_t end, int) DTNN_UPDATE_LOOP {
#pragma GCC ivdep
                        for (std::int64_t i = begin; i < end; ++i) {
                            const T w = weights[i];
                            const T g = terms.gradient(diff[i], w);
                            const T v = rho * second[i] + rest * g * g;
                            new_second[i] = v;
                            T d = v;
                            if constexpr (centered) {
                                const T m = rho * first[i] + rest * g;
                                new_first[i] = m;
                                d = v - m * m;
                                d = d < T(0) ? T(0) : d;
                            }
                            T change = g / (std::sqrt(d + inside) + outside);
                            if constexpr (momentum) {
                                change += keep_velocity * velocity[i];
                                new_velocity[i] = change;
                            }
                            new_weights[i] = terms.moved(w, terms.rate * change);
                        }
                    });
}

template <bool nesterov, bool amsgrad, class T>
void adam(const AdamUpdateArguments<T>& a, const AdamStep& step, ThreadTeam& team) {
    const UpdateTerms<T> terms(a);
    const T beta1 = T(a.beta1), rest1 = T(1 - a.beta1), beta2 = T(a.beta2), rest2 = T(1 - a.beta2);
    const T of_gradient = T(step.of_gradient), of_moment = T(step.of_moment);
    const T deviation = T(step.deviation), inside = T(step.inside), outside = T(step.outside);
    const T *const weights = a.weights, *const diff = a.diff;
    const T *const first = a.first_moment, *const second = a.second_moment;
    const T* const largest = a.largest_moment;
    T *const new_weights = a.new_weights, *const new_first = a.new_first_moment;
    T *const new_second = a.new_second_moment, *const new_largest = a.new_largest_moment;
    team.for_pieces(
        a.count, kUpdateGrain, [=](std::int64_t begin, std::int64_t end, int) DTNN_UPDATE_LOOP {
#pragma GCC ivdep
            for (std::int64_t i = begin; i < end; ++i) {
                const T w = weights[i];
                const T g = terms.gradient(diff[i], w);
                const T m = beta1 * first[i] + rest1 * g;
                T v = beta2 * second[i] + rest2 * g * g;
                new_first[i] = m;
                new_second[i] = v;
                if constexpr (amsgrad) {
                    v = largest[i] > v ? largest[i] : v;
                    new_largest[i] = v;
                }
                const T change = nesterov ? of_gradient * g + of_moment * m : of_moment * m;
                new_weights[i] =
                    terms.moved(w, change / (std::sqrt(v + inside) * deviation + outside));
            }
        });
}

}  // namespace

DTNN_KERNEL(sgd_update_fused, SgdUpdateArguments) {
    if (a.velocity == nullptr) {
        sgd<false, false>(a, team);
    } else if (a.nesterov) {
        sgd<true, true>(a, team);
    } else {
        sgd<true, false>(a, team);
    }
}

DTNN_KERNEL(rmsprop_update_fused, RmspropUpdateArguments) {
    const bool centered = a.first_moment != nullptr, momentum = a.velocity != nullptr;
    if (centered) {
        momentum ? rmsprop<true, true>(a, team) : rmsprop<true, false>(a, team);
    } else {
        momentum ? rmsprop<false, true>(a, team) : rmsprop<false, false>(a, team);
    }
}

DTNN_KERNEL(adam_update_fused, AdamUpdateArguments) {
    const AdamStep step = AdamStep::adam(a);
    a.largest_moment != nullptr ? adam<false, true>(a, step, team)
                                : adam<false, false>(a, step, team);
}

DTNN_KERNEL(nadam_update_fused, AdamUpdateArguments) {
    const AdamStep step = AdamStep::nadam(a);
    adam<true, false>(a, step, team);
    if (a.new_momentum_product != nullptr) *a.new_momentum_product = T(step.momentum_product);
}

DTNN_KERNEL(adagrad_update_fused, AdagradUpdateArguments) {
    const UpdateTerms<T> terms(a);
    const T rate = T(a.rate() / (1 + double(*a.update) * a.learning_rate_decay));
    const T inside = a.epsilon_inside_root ? T(a.epsilon) : T(0);
    const T outside = a.epsilon_inside_root ? T(0) : T(a.epsilon);
    const T *const weights = a.weights, *const diff = a.diff, *const sum = a.square_sum;
    T *const new_weights = a.new_weights, *const new_sum = a.new_square_sum;
    team.for_pieces(
        a.count, kUpdateGrain, [=](std::int64_t begin, std::int64_t end, int) DTNN_UPDATE_LOOP {
#pragma GCC ivdep
            for (std::int64_t i = begin; i < end; ++i) {
                const T w = weights[i];
                const T g = terms.gradient(diff[i], w);
                const T s = sum[i] + g * g;
                new_sum[i] = s;
                new_weights[i] = terms.moved(w, rate * g / (std::sqrt(s + inside) + outside));
            }
        });
}

}  // namespace dtnn::kernels::DTNN_ISA
