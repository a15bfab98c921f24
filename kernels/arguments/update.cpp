#include "kernels/arguments/update.hpp"

#include <cmath>

namespace dtnn::kernels {

template <class T>
AdamStep AdamStep::adam(const AdamUpdateArguments<T>& a) {
    const auto t = double(*a.update + 1);
    const double correction = 1 - std::pow(a.beta2, t);
    AdamStep step;
    step.of_moment = a.rate() / (1 - std::pow(a.beta1, t));
    step.deviation = 1 / std::sqrt(correction);
    (a.epsilon_inside_root ? step.inside : step.outside) =
        a.epsilon_inside_root ? a.epsilon * correction : a.epsilon;
    return step;
}

template <class T>
AdamStep AdamStep::nadam(const AdamUpdateArguments<T>& a) {
    AdamStep step = adam(a);
    const auto t = double(*a.update + 1);
    if (a.momentum_product == nullptr) {  // variant "pydtnn"
        step.of_gradient = step.of_moment * (1 - a.beta1);
        return step;
    }
    const auto momentum = [&](double time) {
        return a.beta1 * (1 - 0.5 * std::pow(0.96, time * a.momentum_decay));
    };
    const double now = momentum(t), next = momentum(t + 1);
    step.momentum_product = double(*a.momentum_product) * now;
    step.of_gradient = a.rate() * (1 - now) / (1 - step.momentum_product);
    step.of_moment = a.rate() * next / (1 - step.momentum_product * next);
    return step;
}

#define DTNN_INSTANTIATE(T)                                            \
    template AdamStep AdamStep::adam(const AdamUpdateArguments<T>& a); \
    template AdamStep AdamStep::nadam(const AdamUpdateArguments<T>& a);
DTNN_INSTANTIATE(float)
DTNN_INSTANTIATE(double)
#undef DTNN_INSTANTIATE

}  // namespace dtnn::kernels
