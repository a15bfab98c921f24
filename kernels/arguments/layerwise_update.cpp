#include "kernels/arguments/layerwise_update.hpp"

#include "kernels/problem.hpp"

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
    a.bind_common(problem, sources, destinations);
    a.momentum = problem.real("momentum");
    a.trust_coefficient = problem.real("trust_coefficient");
    a.epsilon = problem.real("epsilon");
    a.adaptive = is_adaptive(problem);
    a.velocity = static_cast<const T*>(sources[3]);
    a.new_velocity = static_cast<T*>(destinations[1]);
    a.sums = reinterpret_cast<double*>(workspace.data());
    return a;
}

template <class T>
LambUpdateArguments<T> LambUpdateArguments<T>::bind(const Problem& problem, Sources sources,
                                                    Destinations destinations,
                                                    Workspace workspace) {
    LambUpdateArguments a;
    a.bind_common(problem, sources, destinations);
    a.beta1 = problem.real("beta1");
    a.beta2 = problem.real("beta2");
    a.epsilon = problem.real("epsilon");
    a.adaptive = is_adaptive(problem);
    a.update = static_cast<const std::int64_t*>(sources[3]);
    a.first_moment = static_cast<const T*>(sources[4]);
    a.second_moment = static_cast<const T*>(sources[5]);
    a.new_first_moment = static_cast<T*>(destinations[1]);
    a.new_second_moment = static_cast<T*>(destinations[2]);
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
