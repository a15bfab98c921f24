#include "kernels/arguments/mean.hpp"

#include "kernels/problem.hpp"

namespace dtnn::kernels {

template <class T>
MeanArguments<T> MeanArguments<T>::bind(const Problem& problem, Sources sources,
                                        Destinations destinations, Workspace workspace) {
    const AxisRange axis = axis_of(problem);
    const auto [from, to] =
        views_of(axis, problem.sources[0], with_axis(problem.destinations[0], axis.first));
    return {from, to, static_cast<const T*>(sources[0]), static_cast<T*>(destinations[0]),
            workspace.data()};
}

template <class T>
MeanBackwardArguments<T> MeanBackwardArguments<T>::bind(const Problem& problem, Sources sources,
                                                        Destinations destinations, Workspace) {
    const AxisRange axis = axis_of(problem);
    const auto [to, from] =
        views_of(axis, problem.destinations[0], with_axis(problem.sources[0], axis.first));
    return {to, from, static_cast<const T*>(sources[0]), static_cast<T*>(destinations[0])};
}

DTNN_ARGUMENTS_OF_VALUES(MeanArguments)
DTNN_ARGUMENTS_OF_VALUES(MeanBackwardArguments)

}  // namespace dtnn::kernels
