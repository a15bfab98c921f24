#include "kernels/arguments/layerwise_update.hpp"

#include "kernels/named_operands.hpp"

namespace dtnn::kernels {
namespace {

bool is_adaptive(const Problem& problem) {
    if (!problem.attributes.contains("adaptive")) throw MissingAttribute(problem.op, "adaptive");
    return problem.flag("adaptive");
}

}  // namespace

template <class T>
LarsUpdateArguments<T> LarsUpdateArguments<T>::bind(const Problem& problem, Sources sources,
                                                    Destinations destinations,
                                                    Workspace workspace) {
    LarsUpdateArguments a;
    const NamedOperands operands(problem, sources, destinations);
    a.bind_common(problem, operands);
    a.momentum = problem.real("momentum");
    a.trust_coefficient = problem.real("trust_coefficient");
    a.epsilon = problem.real("epsilon");
    a.adaptive = is_adaptive(problem);
    a.velocity = operands.source<T>("velocity");
    a.new_velocity = operands.destination<T>("velocity");
    a.sums = reinterpret_cast<double*>(workspace.data());
    return a;
}

template <class T>
LambUpdateArguments<T> LambUpdateArguments<T>::bind(const Problem& problem, Sources sources,
                                                    Destinations destinations,
                                                    Workspace workspace) {
    LambUpdateArguments a;
    const NamedOperands operands(problem, sources, destinations);
    a.bind_common(problem, operands);
    a.beta1 = problem.real("beta1");
    a.beta2 = problem.real("beta2");
    a.epsilon = problem.real("epsilon");
    a.adaptive = is_adaptive(problem);
    a.update = operands.source<std::int64_t>("update");
    a.first_moment = operands.source<T>("first_moment");
    a.second_moment = operands.source<T>("second_moment");
    a.new_first_moment = operands.destination<T>("first_moment");
    a.new_second_moment = operands.destination<T>("second_moment");
    a.sums = reinterpret_cast<double*>(workspace.data());
    return a;
}

double lars_ratio(double trust_coefficient, double weights_norm, double divisor) {
    return weights_norm > 0 && divisor > 0 ? trust_coefficient * weights_norm / divisor : 1;
}

double lamb_ratio(double weights_norm, double change_norm) {
    return weights_norm > 0 && change_norm > 0 ? weights_norm / change_norm : 1;
}

DTNN_ARGUMENTS(LarsUpdateArguments)
DTNN_ARGUMENTS(LambUpdateArguments)

}  // namespace dtnn::kernels
