#include "kernels/arguments/gradient.hpp"

#include "kernels/problem.hpp"

namespace dtnn::kernels {

template <class T>
GradientSquareSumArguments<T> GradientSquareSumArguments<T>::bind(const Problem& problem,
                                                                  Sources sources,
                                                                  Destinations destinations,
                                                                  Workspace workspace) {
    GradientSquareSumArguments a;
    a.count = problem.sources[0].elements();
    a.diff = static_cast<const T*>(sources[0]);
    a.dst = static_cast<double*>(destinations[0]);
    a.sums = reinterpret_cast<double*>(workspace.data());
    return a;
}

template <class T>
GradientScaleArguments<T> GradientScaleArguments<T>::bind(const Problem& problem, Sources sources,
                                                          Destinations destinations, Workspace) {
    GradientScaleArguments a;
    a.clip_norm = problem.real("clip_norm", 0);
    if (problem.flag("shared")) {
        a.shares = static_cast<const T*>(sources.back());
        sources = sources.first(sources.size() - 1);
    }
    for (const void* source : sources)
        a.square_sums.push_back(static_cast<const double*>(source));
    a.dst = static_cast<T*>(destinations[0]);
    return a;
}

template <class T>
GradientSumArguments<T> GradientSumArguments<T>::bind(const Problem& problem, Sources sources,
                                                      Destinations destinations, Workspace) {
    GradientSumArguments a;
    a.count = problem.sources[0].elements();
    a.sum = static_cast<const T*>(sources[0]);
    a.diff = static_cast<const T*>(sources[1]);
    a.new_sum = static_cast<T*>(destinations[0]);
    if (destinations.size() > 1) a.total = static_cast<T*>(destinations[1]);
    return a;
}

template <class T>
WeighGradientArguments<T> WeighGradientArguments<T>::bind(const Problem& problem, Sources sources,
                                                          Destinations destinations, Workspace) {
    WeighGradientArguments a;
    a.count = problem.sources[0].elements();
    a.diff = static_cast<const T*>(sources[0]);
    a.batch_weight = static_cast<const T*>(sources[1]);
    a.dst = static_cast<T*>(destinations[0]);
    return a;
}

template <class T>
MovingAverageArguments<T> MovingAverageArguments<T>::bind(const Problem& problem, Sources sources,
                                                          Destinations destinations, Workspace) {
    MovingAverageArguments a;
    a.count = problem.sources[0].elements();
    a.decay = problem.real("decay");
    a.average = static_cast<const T*>(sources[0]);
    a.weights = static_cast<const T*>(sources[1]);
    a.new_average = static_cast<T*>(destinations[0]);
    return a;
}

template struct GradientSquareSumArguments<float>;
template struct GradientSquareSumArguments<double>;
template struct GradientScaleArguments<float>;
template struct GradientScaleArguments<double>;
template struct GradientSumArguments<float>;
template struct GradientSumArguments<double>;
template struct WeighGradientArguments<float>;
template struct WeighGradientArguments<double>;
template struct MovingAverageArguments<float>;
template struct MovingAverageArguments<double>;

}  // namespace dtnn::kernels
