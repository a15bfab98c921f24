#include "kernels/arguments/layerwise_update.hpp"

#include <cmath>

#include "kernels/reference/reference.hpp"
#include "kernels/reference/update_terms.hpp"

namespace dtnn::kernels::reference {

DTNN_REFERENCE(lars_update, LarsUpdateArguments) {
    if (a.skips()) {
        leave(a.velocity, a.new_velocity, a.count);
        return leave_weights(a);
    }
    double weights = 0, gradient = 0;
    for (std::int64_t i = 0; i < a.count; ++i) {
        const double g = clipped_gradient_of(a, i);
        weights += double(a.weights[i]) * double(a.weights[i]);
        gradient += g * g;
    }
    double ratio = 1;
    if (a.adaptive) {
        const double norm = std::sqrt(weights);
        ratio = lars_ratio(a.trust_coefficient, norm,
                           std::sqrt(gradient) + a.weight_decay * norm + a.epsilon);
    }
    for (std::int64_t i = 0; i < a.count; ++i) {
        const auto w = double(a.weights[i]);
        const double u = a.momentum * double(a.velocity[i]) +
                         a.rate() * ratio * (clipped_gradient_of(a, i) + a.weight_decay * w);
        a.new_velocity[i] = T(u);
        a.new_weights[i] = T(w - u);
    }
}

DTNN_REFERENCE(lamb_update, LambUpdateArguments) {
    if (a.skips()) {
        leave(a.first_moment, a.new_first_moment, a.count);
        leave(a.second_moment, a.new_second_moment, a.count);
        return leave_weights(a);
    }
    const auto t = double(*a.update + 1);
    const double correction1 = 1 - std::pow(a.beta1, t), correction2 = 1 - std::pow(a.beta2, t);
    const auto change = [&](std::int64_t i, double m, double v) {
        return (m / correction1) / (std::sqrt(v / correction2) + a.epsilon) +
               a.weight_decay * double(a.weights[i]);
    };
    const auto first = [&](std::int64_t i, double g) {
        return a.beta1 * double(a.first_moment[i]) + (1 - a.beta1) * g;
    };
    const auto second = [&](std::int64_t i, double g) {
        return a.beta2 * double(a.second_moment[i]) + (1 - a.beta2) * g * g;
    };
    double weights = 0, changes = 0;
    for (std::int64_t i = 0; i < a.count; ++i) {
        const double g = clipped_gradient_of(a, i), c = change(i, first(i, g), second(i, g));
        weights += double(a.weights[i]) * double(a.weights[i]);
        changes += c * c;
    }
    const double ratio = a.adaptive ? lamb_ratio(std::sqrt(weights), std::sqrt(changes)) : 1;
    for (std::int64_t i = 0; i < a.count; ++i) {
        const double g = clipped_gradient_of(a, i), m = first(i, g), v = second(i, g);
        const double c = change(i, m, v);
        a.new_first_moment[i] = T(m);
        a.new_second_moment[i] = T(v);
        a.new_weights[i] = T(double(a.weights[i]) - a.rate() * ratio * c);
    }
}

}  // namespace dtnn::kernels::reference
