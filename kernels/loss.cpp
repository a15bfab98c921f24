#include "kernels/loss.hpp"

#include "kernels/problem.hpp"

namespace dtnn::kernels {

template <class T>
ClassificationArguments<T> ClassificationArguments<T>::bind(const Problem& problem, Sources sources,
                                                            Destinations destinations,
                                                            Workspace workspace) {
    ClassificationArguments a;
    const bool one_hot = problem.sources.size() == 1;
    const TensorDesc& matrix = one_hot ? problem.destinations[0] : problem.sources[0];
    a.samples = matrix.dims[0];
    a.classes = a.samples == 0 ? 0 : matrix.elements() / a.samples;
    a.epsilon = problem.real("epsilon", 1e-8);
    if (!one_hot) a.src = static_cast<const T*>(sources[0]);
    a.labels = static_cast<const std::int32_t*>(sources.back());
    a.dst = static_cast<T*>(destinations[0]);
    if (destinations.size() > 1) a.probabilities = static_cast<T*>(destinations[1]);
    a.workspace = workspace.data();
    return a;
}

template <class T>
MeanSquaredErrorArguments<T> MeanSquaredErrorArguments<T>::bind(const Problem& problem,
                                                                Sources sources,
                                                                Destinations destinations,
                                                                Workspace workspace) {
    MeanSquaredErrorArguments a;
    a.count = problem.sources[0].elements();
    a.predictions = static_cast<const T*>(sources[0]);
    a.targets = static_cast<const T*>(sources[1]);
    a.dst = static_cast<T*>(destinations[0]);
    a.workspace = workspace.data();
    return a;
}

template struct ClassificationArguments<float>;
template struct ClassificationArguments<double>;
template struct MeanSquaredErrorArguments<float>;
template struct MeanSquaredErrorArguments<double>;

}  // namespace dtnn::kernels
