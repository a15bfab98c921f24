#include "kernels/arguments/norm.hpp"

#include <tuple>

#include "kernels/problem.hpp"

namespace dtnn::kernels {
namespace {

template <class T, class Arguments>
void bind_forward(Arguments& a, const Problem& problem, Sources sources,
                  Destinations destinations) {
    a.epsilon = problem.real("epsilon");
    a.src = static_cast<const T*>(sources[0]);
    if (problem.flag("affine")) {
        a.gamma = static_cast<const T*>(sources[1]);
        a.beta = static_cast<const T*>(sources[2]);
    }
    a.dst = static_cast<T*>(destinations[0]);
    if (problem.flag("statistics")) {
        a.mean = static_cast<T*>(destinations[1]);
        a.inverse_deviation = static_cast<T*>(destinations[2]);
    }
}

template <class T, class Arguments>
void bind_backward(Arguments& a, const Problem& problem, Sources sources, Destinations destinations,
                   Workspace workspace) {
    a.src = static_cast<const T*>(sources[0]);
    a.diff_dst = static_cast<const T*>(sources[1]);
    a.mean = static_cast<const T*>(sources[2]);
    a.inverse_deviation = static_cast<const T*>(sources[3]);
    a.diff_src = static_cast<T*>(destinations[0]);
    if (problem.flag("affine")) {
        a.gamma = static_cast<const T*>(sources[4]);
        a.diff_gamma = static_cast<T*>(destinations[1]);
        a.diff_beta = static_cast<T*>(destinations[2]);
    }
    a.workspace = workspace.data();
}

}  // namespace

template <class T>
LayerNormArguments<T> LayerNormArguments<T>::bind(const Problem& problem, Sources sources,
                                                  Destinations destinations, Workspace workspace) {
    LayerNormArguments a;
    bind_forward<T>(a, problem, sources, destinations);
    const AxisRange axes = normalised_axes(problem);
    std::tie(a.src_layout, a.dst_layout) =
        std::tuple_cat(views_of(axes, problem.sources[0], problem.destinations[0]));
    a.channels = problem.sources[0].dims[axes.first];
    a.workspace = workspace.data();
    return a;
}

template <class T>
LayerNormBackwardArguments<T> LayerNormBackwardArguments<T>::bind(const Problem& problem,
                                                                  Sources sources,
                                                                  Destinations destinations,
                                                                  Workspace workspace) {
    LayerNormBackwardArguments a;
    bind_backward<T>(a, problem, sources, destinations, workspace);
    const AxisRange axes = normalised_axes(problem);
    std::tie(a.src_layout, a.diff_dst_layout, a.diff_src_layout) = std::tuple_cat(
        views_of(axes, problem.sources[0], problem.sources[1], problem.destinations[0]));
    a.channels = problem.sources[0].dims[axes.first];
    return a;
}

template <class T>
GroupNormArguments<T> GroupNormArguments<T>::bind(const Problem& problem, Sources sources,
                                                  Destinations destinations, Workspace workspace) {
    GroupNormArguments a;
    bind_forward<T>(a, problem, sources, destinations);
    a.src_layout = sample_layout(problem.sources[0], axis_of(problem)).value();
    a.dst_layout = sample_layout(problem.destinations[0], axis_of(problem)).value();
    a.groups = problem.integer("groups");
    a.workspace = workspace.data();
    return a;
}

template <class T>
GroupNormBackwardArguments<T> GroupNormBackwardArguments<T>::bind(const Problem& problem,
                                                                  Sources sources,
                                                                  Destinations destinations,
                                                                  Workspace workspace) {
    GroupNormBackwardArguments a;
    bind_backward<T>(a, problem, sources, destinations, workspace);
    a.src_layout = sample_layout(problem.sources[0], axis_of(problem)).value();
    a.diff_dst_layout = sample_layout(problem.sources[1], axis_of(problem)).value();
    a.diff_src_layout = sample_layout(problem.destinations[0], axis_of(problem)).value();
    a.groups = problem.integer("groups");
    return a;
}

DTNN_ARGUMENTS(LayerNormArguments)
DTNN_ARGUMENTS(LayerNormBackwardArguments)
DTNN_ARGUMENTS(GroupNormArguments)
DTNN_ARGUMENTS(GroupNormBackwardArguments)

}  // namespace dtnn::kernels
