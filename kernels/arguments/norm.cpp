#include "kernels/arguments/norm.hpp"

#include "kernels/problem.hpp"

namespace dtnn::kernels {
namespace {

/// Where gamma's number for (c, h, w) lies; a vector has one for each channel.
ImageLayout gamma_layout_of(const TensorDesc& gamma) {
    if (gamma.dims.size() > 1) return image_layout(gamma);
    ImageLayout layout;
    layout.channels = gamma.elements();
    layout.channel_stride = 1;
    return layout;
}

bool is_along_channels(const Problem& problem) {
    return problem.text("axis") == "channels";
}

template <class T, class Arguments>
void bind_forward(Arguments& a, const Problem& problem, Sources sources,
                  Destinations destinations) {
    a.epsilon = problem.real("epsilon");
    a.src_layout = image_layout(problem.sources[0]);
    a.dst_layout = image_layout(problem.destinations[0]);
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
    a.src_layout = image_layout(problem.sources[0]);
    a.diff_dst_layout = image_layout(problem.sources[1]);
    a.diff_src_layout = image_layout(problem.destinations[0]);
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
    a.workspace = workspace.data();
    a.along_channels = is_along_channels(problem);
    if (a.gamma != nullptr) a.gamma_layout = gamma_layout_of(problem.sources[1]);
    return a;
}

template <class T>
LayerNormBackwardArguments<T> LayerNormBackwardArguments<T>::bind(const Problem& problem,
                                                                  Sources sources,
                                                                  Destinations destinations,
                                                                  Workspace workspace) {
    LayerNormBackwardArguments a;
    bind_backward<T>(a, problem, sources, destinations, workspace);
    a.along_channels = is_along_channels(problem);
    if (a.gamma != nullptr) a.gamma_layout = gamma_layout_of(problem.sources[4]);
    return a;
}

template <class T>
GroupNormArguments<T> GroupNormArguments<T>::bind(const Problem& problem, Sources sources,
                                                  Destinations destinations, Workspace workspace) {
    GroupNormArguments a;
    bind_forward<T>(a, problem, sources, destinations);
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
    a.groups = problem.integer("groups");
    return a;
}

DTNN_ARGUMENTS(LayerNormArguments)
DTNN_ARGUMENTS(LayerNormBackwardArguments)
DTNN_ARGUMENTS(GroupNormArguments)
DTNN_ARGUMENTS(GroupNormBackwardArguments)

}  // namespace dtnn::kernels
