#include "kernels/arguments/update.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/reference/reference.hpp"
#include "kernels/reference/update_terms.hpp"

namespace dtnn::kernels::reference {
namespace {

double root(double square, double epsilon, bool inside) {
    return inside ? std::sqrt(square + epsilon) : std::sqrt(square) + epsilon;
}

/// The formula of the header as it stands there, but for the change's numerator, whose factors are
/// those of `step`.
template <class T>
void adam_step(const AdamUpdateArguments<T>& a, const AdamStep& step) {
    const double correction = 1 - std::pow(a.beta2, double(*a.update + 1));
    for (std::int64_t i = 0; i < a.count; ++i) {
        const double g = gradient_of(a, i);
        const double m = a.beta1 * double(a.first_moment[i]) + (1 - a.beta1) * g;
        double v = a.beta2 * double(a.second_moment[i]) + (1 - a.beta2) * g * g;
        const double kept = kept_of(a, i);
        a.new_first_moment[i] = T(m);
        a.new_second_moment[i] = T(v);
        if (a.largest_moment != nullptr) {
            v = std::max(double(a.largest_moment[i]), v);
            a.new_largest_moment[i] = T(v);
        }
        a.new_weights[i] = T(kept - (step.of_gradient * g + step.of_moment * m) /
                                        root(v / correction, a.epsilon, a.epsilon_inside_root));
    }
}

}  // namespace

DTNN_REFERENCE(sgd_update, SgdUpdateArguments) {
    if (a.skips()) {
        leave(a.velocity, a.new_velocity, a.count);
        return leave_weights(a);
    }
    for (std::int64_t i = 0; i < a.count; ++i) {
        const double g = gradient_of(a, i), kept = kept_of(a, i);
        double change = g;
        if (a.velocity != nullptr) {
            const double u = a.momentum * double(a.velocity[i]) + g;
            a.new_velocity[i] = T(u);
            change = a.nesterov ? g + a.momentum * u : u;
        }
        a.new_weights[i] = T(kept - a.rate() * change);
    }
}

DTNN_REFERENCE(rmsprop_update, RmspropUpdateArguments) {
    if (a.skips()) {
        leave(a.second_moment, a.new_second_moment, a.count);
        leave(a.first_moment, a.new_first_moment, a.count);
        leave(a.velocity, a.new_velocity, a.count);
        return leave_weights(a);
    }
    for (std::int64_t i = 0; i < a.count; ++i) {
        const double g = gradient_of(a, i), kept = kept_of(a, i);
        const double v = a.rho * double(a.second_moment[i]) + (1 - a.rho) * g * g;
        a.new_second_moment[i] = T(v);
        double d = v;
        if (a.first_moment != nullptr) {
            const double m = a.rho * double(a.first_moment[i]) + (1 - a.rho) * g;
            a.new_first_moment[i] = T(m);
            d = std::max(v - m * m, 0.0);  // rounding must not make it negative
        }
        double change = g / root(d, a.epsilon, a.epsilon_inside_root);
        if (a.velocity != nullptr) {
            change += a.momentum * double(a.velocity[i]);
            a.new_velocity[i] = T(change);
        }
        a.new_weights[i] = T(kept - a.rate() * change);
    }
}

template <class T>
void leave_moments(const AdamUpdateArguments<T>& a) {
    leave(a.first_moment, a.new_first_moment, a.count);
    leave(a.second_moment, a.new_second_moment, a.count);
    leave(a.largest_moment, a.new_largest_moment, a.count);
    leave(a.momentum_product, a.new_momentum_product, 1);
    leave_weights(a);
}

DTNN_REFERENCE(adam_update, AdamUpdateArguments) {
    if (a.skips()) return leave_moments(a);
    AdamStep step;
    step.of_moment = a.rate() / (1 - std::pow(a.beta1, double(*a.update + 1)));
    adam_step(a, step);
}

DTNN_REFERENCE(nadam_update, AdamUpdateArguments) {
    if (a.skips()) return leave_moments(a);
    const auto t = double(*a.update + 1);
    AdamStep step;
    if (a.momentum_product != nullptr) {
        const double n = a.beta1 * (1 - std::pow(0.96, t * a.momentum_decay) / 2);
        const double next = a.beta1 * (1 - std::pow(0.96, (t + 1) * a.momentum_decay) / 2);
        const double product = double(*a.momentum_product) * n;
        step.of_gradient = a.rate() * (1 - n) / (1 - product);
        step.of_moment = a.rate() * next / (1 - product * next);
        *a.new_momentum_product = T(product);
    } else {
        step.of_moment = a.rate() / (1 - std::pow(a.beta1, t));
        step.of_gradient = step.of_moment * (1 - a.beta1);
    }
    adam_step(a, step);
}

DTNN_REFERENCE(adagrad_update, AdagradUpdateArguments) {
    if (a.skips()) {
        leave(a.square_sum, a.new_square_sum, a.count);
        return leave_weights(a);
    }
    const double rate = a.rate() / (1 + double(*a.update) * a.learning_rate_decay);
    for (std::int64_t i = 0; i < a.count; ++i) {
        const double g = gradient_of(a, i), kept = kept_of(a, i);
        const double s = double(a.square_sum[i]) + g * g;
        a.new_square_sum[i] = T(s);
        a.new_weights[i] = T(kept - rate * g / root(s, a.epsilon, a.epsilon_inside_root));
    }
}

}  // namespace dtnn::kernels::reference
