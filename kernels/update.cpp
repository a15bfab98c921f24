#include "kernels/update.hpp"

#include "kernels/problem.hpp"

namespace dtnn::kernels {

template <class T>
SgdUpdateArguments<T> SgdUpdateArguments<T>::bind(const Problem& problem, Sources sources,
                                                  Destinations destinations, Workspace) {
    SgdUpdateArguments a;
    a.count = problem.sources[0].elements();
    a.momentum = problem.real("momentum");
    a.weight_decay = problem.real("weight_decay");
    a.nesterov = problem.flag("nesterov");
    a.weights = static_cast<const T*>(sources[0]);
    a.diff = static_cast<const T*>(sources[1]);
    a.learning_rate = static_cast<const T*>(sources[2]);
    a.new_weights = static_cast<T*>(destinations[0]);
    if (sources.size() > 3) {
        a.velocity = static_cast<const T*>(sources[3]);
        a.new_velocity = static_cast<T*>(destinations[1]);
    }
    return a;
}

template <class T>
AdamUpdateArguments<T> AdamUpdateArguments<T>::bind(const Problem& problem, Sources sources,
                                                    Destinations destinations, Workspace) {
    AdamUpdateArguments a;
    a.count = problem.sources[0].elements();
    a.beta1 = problem.real("beta1", 0.9);
    a.beta2 = problem.real("beta2", 0.999);
    a.epsilon = problem.real("epsilon", 1e-8);
    a.weight_decay = problem.real("weight_decay");
    a.weights = static_cast<const T*>(sources[0]);
    a.diff = static_cast<const T*>(sources[1]);
    a.learning_rate = static_cast<const T*>(sources[2]);
    a.step = static_cast<const std::int64_t*>(sources[3]);
    a.first_moment = static_cast<const T*>(sources[4]);
    a.second_moment = static_cast<const T*>(sources[5]);
    a.new_weights = static_cast<T*>(destinations[0]);
    a.new_first_moment = static_cast<T*>(destinations[1]);
    a.new_second_moment = static_cast<T*>(destinations[2]);
    return a;
}

template struct SgdUpdateArguments<float>;
template struct SgdUpdateArguments<double>;
template struct AdamUpdateArguments<float>;
template struct AdamUpdateArguments<double>;

}  // namespace dtnn::kernels
