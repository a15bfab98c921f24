#include <cmath>

#include "kernels/arguments/update.hpp"
#include "kernels/cuda/members.hpp"
#include "kernels/cuda/update_terms.hpp"

namespace dtnn::kernels::cuda {
namespace {

DTNN_DEVICE inline double root(double square, double epsilon, bool inside) {
    return inside ? std::sqrt(square + epsilon) : std::sqrt(square) + epsilon;
}

/// The numbers of a step of adam or nadam that are alike for all elements.
struct Step {
    double of_gradient, of_moment, correction;
};

template <class T>
DTNN_DEVICE void move_moments(const AdamUpdateArguments<T>& m, std::int64_t i, const Step& step) {
    if (m.skips()) {
        leave(m.first_moment, m.new_first_moment, i);
        leave(m.second_moment, m.new_second_moment, i);
        leave(m.largest_moment, m.new_largest_moment, i);
        return leave(m, i);
    }
    const double g = gradient(m, i), kept = kept_weight(m, i);
    const double first = m.beta1 * double(m.first_moment[i]) + (1 - m.beta1) * g;
    double v = m.beta2 * double(m.second_moment[i]) + (1 - m.beta2) * g * g;
    m.new_first_moment[i] = T(first);
    m.new_second_moment[i] = T(v);
    if (m.largest_moment != nullptr) {
        if (double(m.largest_moment[i]) > v) v = double(m.largest_moment[i]);
        m.new_largest_moment[i] = T(v);
    }
    m.new_weights[i] = T(kept - (step.of_gradient * g + step.of_moment * first) /
                                    root(v / step.correction, m.epsilon, m.epsilon_inside_root));
}

/// prepare(m, step) works out the numbers of a member's step.
template <class T, class Prepare>
void moments_and_weights(const MemberList<AdamUpdateArguments<T>>& members, const Launch& launch,
                         const Prepare& prepare) {
    each_of<Step>(members, launch, prepare,
                  [=] DTNN_DEVICE(const AdamUpdateArguments<T>& m, std::int64_t i, Step& step) {
                      move_moments(m, i, step);
                  });
}

/// n_t and n_(t+1) of nadam's variant "dozat", and the product p of all by now.
struct Momenta {
    double now, next, all;
};
template <class T>
DTNN_DEVICE Momenta momenta_of(const AdamUpdateArguments<T>& m) {
    const double t = double(*m.update + 1);
    const double now = m.beta1 * (1 - std::pow(0.96, t * m.momentum_decay) / 2);
    const double next = m.beta1 * (1 - std::pow(0.96, (t + 1) * m.momentum_decay) / 2);
    return {now, next, double(*m.momentum_product) * now};
}

}  // namespace

DTNN_CUDA_KERNEL_OF_MEMBERS(sgd_update_each, SgdUpdateArguments) {
    each_of(on_device(a, launch), launch,
            [=] DTNN_DEVICE(const SgdUpdateArguments<T>& m, std::int64_t i) {
                if (m.skips()) {
                    leave(m.velocity, m.new_velocity, i);
                    return leave(m, i);
                }
                const double g = gradient(m, i), kept = kept_weight(m, i);
                double change = g;
                if (m.velocity != nullptr) {
                    const double u = m.momentum * double(m.velocity[i]) + g;
                    m.new_velocity[i] = T(u);
                    change = m.nesterov ? g + m.momentum * u : u;
                }
                m.new_weights[i] = T(kept - m.rate() * change);
            });
}

DTNN_CUDA_KERNEL_OF_MEMBERS(rmsprop_update_each, RmspropUpdateArguments) {
    each_of(on_device(a, launch), launch,
            [=] DTNN_DEVICE(const RmspropUpdateArguments<T>& m, std::int64_t i) {
                if (m.skips()) {
                    leave(m.second_moment, m.new_second_moment, i);
                    leave(m.first_moment, m.new_first_moment, i);
                    leave(m.velocity, m.new_velocity, i);
                    return leave(m, i);
                }
                const double g = gradient(m, i), kept = kept_weight(m, i);
                const double v = m.rho * double(m.second_moment[i]) + (1 - m.rho) * g * g;
                m.new_second_moment[i] = T(v);
                double d = v;
                if (m.first_moment != nullptr) {
                    const double mean = m.rho * double(m.first_moment[i]) + (1 - m.rho) * g;
                    m.new_first_moment[i] = T(mean);
                    d = v - mean * mean > 0 ? v - mean * mean
                                            : 0;  // rounding must not make it negative
                }
                double change = g / root(d, m.epsilon, m.epsilon_inside_root);
                if (m.velocity != nullptr) {
                    change += m.momentum * double(m.velocity[i]);
                    m.new_velocity[i] = T(change);
                }
                m.new_weights[i] = T(kept - m.rate() * change);
            });
}

DTNN_CUDA_KERNEL_OF_MEMBERS(adam_update_each, AdamUpdateArguments) {
    moments_and_weights<T>(on_device(a, launch), launch,
                           [=] DTNN_DEVICE(const AdamUpdateArguments<T>& m, Step& step) {
                               const double t = double(*m.update + 1);
                               step.of_gradient = 0;
                               step.of_moment = m.rate() / (1 - std::pow(m.beta1, t));
                               step.correction = 1 - std::pow(m.beta2, t);
                           });
}

DTNN_CUDA_KERNEL_OF_MEMBERS(nadam_update_each, AdamUpdateArguments) {
    const MemberList<AdamUpdateArguments<T>> members = on_device(a, launch);
    moments_and_weights<T>(members, launch,
                           [=] DTNN_DEVICE(const AdamUpdateArguments<T>& m, Step& step) {
                               const double t = double(*m.update + 1);
                               step.correction = 1 - std::pow(m.beta2, t);
                               if (m.momentum_product == nullptr) {  // variant "pydtnn"
                                   step.of_moment = m.rate() / (1 - std::pow(m.beta1, t));
                                   step.of_gradient = step.of_moment * (1 - m.beta1);
                                   return;
                               }
                               const Momenta of = momenta_of(m);
                               step.of_gradient = m.rate() * (1 - of.now) / (1 - of.all);
                               step.of_moment = m.rate() * of.next / (1 - of.all * of.next);
                           });
    if (a.front().momentum_product == nullptr) return;
    // Behind all that reads it.
    launch.each(members.count, [=] DTNN_DEVICE(std::int64_t k) {
        const AdamUpdateArguments<T>& m = members.of[k].arguments;
        *m.new_momentum_product = m.skips() ? *m.momentum_product : T(momenta_of(m).all);
    });
}

DTNN_CUDA_KERNEL_OF_MEMBERS(adagrad_update_each, AdagradUpdateArguments) {
    each_of(on_device(a, launch), launch,
            [=] DTNN_DEVICE(const AdagradUpdateArguments<T>& m, std::int64_t i) {
                if (m.skips()) {
                    leave(m.square_sum, m.new_square_sum, i);
                    return leave(m, i);
                }
                const double g = gradient(m, i), kept = kept_weight(m, i);
                const double s = double(m.square_sum[i]) + g * g;
                const double rate = m.rate() / (1 + double(*m.update) * m.learning_rate_decay);
                m.new_square_sum[i] = T(s);
                m.new_weights[i] = T(kept - rate * g / root(s, m.epsilon, m.epsilon_inside_root));
            });
}

}  // namespace dtnn::kernels::cuda
