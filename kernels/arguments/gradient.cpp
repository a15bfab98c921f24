#include "kernels/arguments/gradient.hpp"

#include "kernels/named_operands.hpp"

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
    const NamedOperands operands(problem, sources, destinations);
    a.sum = operands.source<T>("sum");
    a.diff = operands.source<T>("diff");
    a.new_sum = operands.destination<T>("sum");
    a.total = operands.destination<T>("total");
    return a;
}

template <class T>
WeighGradientArguments<T> WeighGradientArguments<T>::bind(const Problem& problem, Sources sources,
                                                          Destinations destinations, Workspace) {
    WeighGradientArguments a;
    a.count = problem.sources[0].elements();
    const NamedOperands operands(problem, sources, destinations);
    a.diff = operands.source<T>("diff");
    a.batch_weight = operands.source<T>("batch_weight");
    a.dst = operands.destination<T>("dst");
    return a;
}

template <class T>
MovingAverageArguments<T> MovingAverageArguments<T>::bind(const Problem& problem, Sources sources,
                                                          Destinations destinations, Workspace) {
    MovingAverageArguments a;
    a.count = problem.sources[0].elements();
    a.decay = problem.real("decay");
    const NamedOperands operands(problem, sources, destinations);
    a.average = operands.source<T>("average");
    a.weights = operands.source<T>("weights");
    a.new_average = operands.destination<T>("average");
    return a;
}

DTNN_ARGUMENTS(GradientSquareSumArguments)
DTNN_ARGUMENTS(GradientScaleArguments)
DTNN_ARGUMENTS(AdaptLossScaleArguments)
DTNN_ARGUMENTS(GradientSumArguments)
DTNN_ARGUMENTS(WeighGradientArguments)
DTNN_ARGUMENTS(MovingAverageArguments)

}  // namespace dtnn::kernels
