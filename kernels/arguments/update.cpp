#include "kernels/arguments/update.hpp"

#include <cmath>

#include "kernels/named_operands.hpp"

namespace dtnn::kernels {

template <class T>
void UpdateArguments<T>::bind_common(const Problem& problem, const NamedOperands& operands) {
    count = problem.sources[0].elements();
    learning_rate_scale = problem.real("learning_rate_scale", 1);
    weight_decay = problem.real("weight_decay");
    decoupled = problem.flag("decoupled_weight_decay");
    may_skip = problem.flag("skips");
    if (const double limit = problem.real("clip_value", 0); limit > 0) clip_value = limit;
    weights = operands.source<T>("weights");
    diff = operands.source<T>("diff");
    learning_rate = operands.source<T>("learning_rate");
    scale = operands.source<T>("scale");
    new_weights = operands.destination<T>("weights");
}

template <class T>
double UpdateArguments<T>::rate() const {
    return double(*learning_rate) * learning_rate_scale;
}

template <class T>
SgdUpdateArguments<T> SgdUpdateArguments<T>::bind(const Problem& problem, Sources sources,
                                                  Destinations destinations, Workspace) {
    SgdUpdateArguments a;
    const NamedOperands operands(problem, sources, destinations);
    a.bind_common(problem, operands);
    a.momentum = problem.real("momentum");
    a.nesterov = problem.flag("nesterov");
    a.velocity = operands.source<T>("velocity");
    a.new_velocity = operands.destination<T>("velocity");
    return a;
}

template <class T>
RmspropUpdateArguments<T> RmspropUpdateArguments<T>::bind(const Problem& problem, Sources sources,
                                                          Destinations destinations, Workspace) {
    RmspropUpdateArguments a;
    const NamedOperands operands(problem, sources, destinations);
    a.bind_common(problem, operands);
    a.rho = problem.real("rho");
    a.epsilon = problem.real("epsilon");
    a.epsilon_inside_root = problem.flag("epsilon_inside_root");
    a.momentum = problem.real("momentum");
    a.second_moment = operands.source<T>("second_moment");
    a.new_second_moment = operands.destination<T>("second_moment");
    a.first_moment = operands.source<T>("first_moment");
    a.new_first_moment = operands.destination<T>("first_moment");
    a.velocity = operands.source<T>("velocity");
    a.new_velocity = operands.destination<T>("velocity");
    return a;
}

template <class T>
AdamUpdateArguments<T> AdamUpdateArguments<T>::bind(const Problem& problem, Sources sources,
                                                    Destinations destinations,
                                                    Workspace workspace) {
    AdamUpdateArguments a;
    const NamedOperands operands(problem, sources, destinations);
    a.bind_common(problem, operands);
    a.beta1 = problem.real("beta1");
    a.beta2 = problem.real("beta2");
    a.epsilon = problem.real("epsilon");
    a.epsilon_inside_root = problem.flag("epsilon_inside_root");
    if (problem.op == "nadam_update") a.momentum_decay = problem.real("momentum_decay");
    a.update = operands.source<std::int64_t>("update");
    a.first_moment = operands.source<T>("first_moment");
    a.second_moment = operands.source<T>("second_moment");
    a.new_first_moment = operands.destination<T>("first_moment");
    a.new_second_moment = operands.destination<T>("second_moment");
    a.largest_moment = operands.source<T>("largest_moment");
    a.new_largest_moment = operands.destination<T>("largest_moment");
    a.momentum_product = operands.source<T>("momentum_product");
    a.new_momentum_product = operands.destination<T>("momentum_product");
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
    const NamedOperands operands(problem, sources, destinations);
    a.bind_common(problem, operands);
    a.epsilon = problem.real("epsilon");
    a.epsilon_inside_root = problem.flag("epsilon_inside_root");
    a.learning_rate_decay = problem.real("learning_rate_decay");
    a.update = operands.source<std::int64_t>("update");
    a.square_sum = operands.source<T>("square_sum");
    a.new_square_sum = operands.destination<T>("square_sum");
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
