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
    if (problem.flag("loss_scaled")) {
        a.loss_scale = static_cast<const T*>(sources.back());
        sources = sources.first(sources.size() - 1);
    }
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
AdaptLossScaleArguments<T> AdaptLossScaleArguments<T>::bind(const Problem& problem, Sources sources,
                                                            Destinations destinations, Workspace) {
    AdaptLossScaleArguments a;
    a.growth_interval = problem.integer("growth_interval");
    a.scale = static_cast<const T*>(sources[0]);
    a.updates = static_cast<const T*>(sources[1]);
    a.factor = static_cast<const T*>(sources[2]);
    a.new_scale = static_cast<T*>(destinations[0]);
    a.new_updates = static_cast<T*>(destinations[1]);
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

DTNN_ARGUMENTS(GradientSquareSumArguments)
DTNN_ARGUMENTS(GradientScaleArguments)
DTNN_ARGUMENTS(AdaptLossScaleArguments)
DTNN_ARGUMENTS(GradientSumArguments)
DTNN_ARGUMENTS(WeighGradientArguments)
DTNN_ARGUMENTS(MovingAverageArguments)

}  // namespace dtnn::kernels
