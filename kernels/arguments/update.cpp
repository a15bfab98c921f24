#include "kernels/arguments/update.hpp"

#include <cmath>

#include "kernels/problem.hpp"

namespace dtnn::kernels {

template <class T>
void UpdateArguments<T>::bind_common(const Problem& problem, Sources sources,
                                     Destinations destinations) {
    count = problem.sources[0].elements();
    learning_rate_scale = problem.real("learning_rate_scale", 1);
    weight_decay = problem.real("weight_decay");
    decoupled = problem.flag("decoupled_weight_decay");
    may_skip = problem.flag("skips");
    if (const double limit = problem.real("clip_value", 0); limit > 0) clip_value = limit;
    weights = static_cast<const T*>(sources[0]);
    diff = static_cast<const T*>(sources[1]);
    learning_rate = static_cast<const T*>(sources[2]);
    if (problem.flag("scaled")) scale = static_cast<const T*>(sources.back());
    new_weights = static_cast<T*>(destinations[0]);
}

template <class T>
double UpdateArguments<T>::rate() const {
    return double(*learning_rate) * learning_rate_scale;
}

template <class T>
SgdUpdateArguments<T> SgdUpdateArguments<T>::bind(const Problem& problem, Sources sources,
                                                  Destinations destinations, Workspace) {
    SgdUpdateArguments a;
    a.bind_common(problem, sources, destinations);
    a.momentum = problem.real("momentum");
    a.nesterov = problem.flag("nesterov");
    if (destinations.size() > 1) {
        a.velocity = static_cast<const T*>(sources[3]);
        a.new_velocity = static_cast<T*>(destinations[1]);
    }
    return a;
}

template <class T>
RmspropUpdateArguments<T> RmspropUpdateArguments<T>::bind(const Problem& problem, Sources sources,
                                                          Destinations destinations, Workspace) {
    RmspropUpdateArguments a;
    a.bind_common(problem, sources, destinations);
    a.rho = problem.real("rho");
    a.epsilon = problem.real("epsilon");
    a.epsilon_inside_root = problem.flag("epsilon_inside_root");
    a.momentum = problem.real("momentum");
    a.second_moment = static_cast<const T*>(sources[3]);
    a.new_second_moment = static_cast<T*>(destinations[1]);
    std::size_t next = 4;
    if (problem.flag("centered")) {
        a.first_moment = static_cast<const T*>(sources[next]);
        a.new_first_moment = static_cast<T*>(destinations[next - 2]);
        ++next;
    }
    if (a.momentum > 0) {
        a.velocity = static_cast<const T*>(sources[next]);
        a.new_velocity = static_cast<T*>(destinations[next - 2]);
    }
    return a;
}

template <class T>
AdamUpdateArguments<T> AdamUpdateArguments<T>::bind(const Problem& problem, Sources sources,
                                                    Destinations destinations,
                                                    Workspace workspace) {
    AdamUpdateArguments a;
    a.bind_common(problem, sources, destinations);
    a.beta1 = problem.real("beta1");
    a.beta2 = problem.real("beta2");
    a.epsilon = problem.real("epsilon");
    a.epsilon_inside_root = problem.flag("epsilon_inside_root");
    if (problem.op == "nadam_update") a.momentum_decay = problem.real("momentum_decay");
    a.update = static_cast<const std::int64_t*>(sources[3]);
    a.first_moment = static_cast<const T*>(sources[4]);
    a.second_moment = static_cast<const T*>(sources[5]);
    a.new_first_moment = static_cast<T*>(destinations[1]);
    a.new_second_moment = static_cast<T*>(destinations[2]);
    if (destinations.size() > 3) {
        const auto* extra = static_cast<const T*>(sources[6]);
        auto* result = static_cast<T*>(destinations[3]);
        const bool nadam = problem.op == "nadam_update";
        (nadam ? a.momentum_product : a.largest_moment) = extra;
        (nadam ? a.new_momentum_product : a.new_largest_moment) = result;
    }
    a.workspace = workspace.data();
    return a;
}

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

template <class T>
AdagradUpdateArguments<T> AdagradUpdateArguments<T>::bind(const Problem& problem, Sources sources,
                                                          Destinations destinations, Workspace) {
    AdagradUpdateArguments a;
    a.bind_common(problem, sources, destinations);
    a.epsilon = problem.real("epsilon");
    a.epsilon_inside_root = problem.flag("epsilon_inside_root");
    a.learning_rate_decay = problem.real("learning_rate_decay");
    a.update = static_cast<const std::int64_t*>(sources[3]);
    a.square_sum = static_cast<const T*>(sources[4]);
    a.new_square_sum = static_cast<T*>(destinations[1]);
    return a;
}

#define DTNN_INSTANTIATE(T)                                            \
    template struct UpdateArguments<T>;                                \
    template struct SgdUpdateArguments<T>;                             \
    template struct RmspropUpdateArguments<T>;                         \
    template struct AdamUpdateArguments<T>;                            \
    template struct AdagradUpdateArguments<T>;                         \
    template AdamStep AdamStep::adam(const AdamUpdateArguments<T>& a); \
    template AdamStep AdamStep::nadam(const AdamUpdateArguments<T>& a);
DTNN_INSTANTIATE(float)
DTNN_INSTANTIATE(double)
#undef DTNN_INSTANTIATE

}  // namespace dtnn::kernels
