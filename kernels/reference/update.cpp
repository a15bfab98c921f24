#include "kernels/update.hpp"

#include <cmath>

#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {

template <class T>
void sgd_update_reference(const SgdUpdateArguments<T>& a, ThreadTeam&) {
    const auto rate = double(*a.learning_rate);
    for (std::int64_t i = 0; i < a.count; ++i) {
        const auto w = double(a.weights[i]);
        const double g = double(a.diff[i]) + a.weight_decay * w;
        double change = g;
        if (a.velocity != nullptr) {
            const double v = a.momentum * double(a.velocity[i]) + g;
            a.new_velocity[i] = T(v);
            change = a.nesterov ? g + a.momentum * v : v;
        }
        a.new_weights[i] = T(w - rate * change);
    }
}

template <class T>
void adam_update_reference(const AdamUpdateArguments<T>& a, ThreadTeam&) {
    const auto t = double(*a.step + 1);
    const double correction1 = 1 - std::pow(a.beta1, t), correction2 = 1 - std::pow(a.beta2, t);
    const auto rate = double(*a.learning_rate);
    for (std::int64_t i = 0; i < a.count; ++i) {
        const auto w = double(a.weights[i]);
        const double g = double(a.diff[i]) + a.weight_decay * w;
        const double m = a.beta1 * double(a.first_moment[i]) + (1 - a.beta1) * g;
        const double v = a.beta2 * double(a.second_moment[i]) + (1 - a.beta2) * g * g;
        a.new_first_moment[i] = T(m);
        a.new_second_moment[i] = T(v);
        a.new_weights[i] =
            T(w - rate * (m / correction1) / (std::sqrt(v / correction2) + a.epsilon));
    }
}

DTNN_REFERENCE(sgd_update, SgdUpdateArguments)
DTNN_REFERENCE(adam_update, AdamUpdateArguments)

}  // namespace dtnn::kernels::reference
