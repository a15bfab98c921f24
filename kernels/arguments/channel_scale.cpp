#include "kernels/arguments/channel_scale.hpp"

#include "kernels/problem.hpp"

namespace dtnn::kernels {

template <class T>
ChannelScaleArguments<T> ChannelScaleArguments<T>::bind(const Problem& problem, Sources sources,
                                                        Destinations destinations, Workspace) {
    ChannelScaleArguments arguments;
    arguments.src_layout = sample_layout(problem.sources[0], axis_of(problem)).value();
    arguments.dst_layout = sample_layout(problem.destinations[0], axis_of(problem)).value();
    arguments.src = static_cast<const T*>(sources[0]);
    arguments.gate = static_cast<const T*>(sources[1]);
    arguments.dst = static_cast<T*>(destinations[0]);
    return arguments;
}

template <class T>
ChannelScaleBackwardGateArguments<T> ChannelScaleBackwardGateArguments<T>::bind(
    const Problem& problem, Sources sources, Destinations destinations, Workspace workspace) {
    ChannelScaleBackwardGateArguments arguments;
    arguments.src_layout = sample_layout(problem.sources[0], axis_of(problem)).value();
    arguments.diff_dst_layout = sample_layout(problem.sources[1], axis_of(problem)).value();
    arguments.src = static_cast<const T*>(sources[0]);
    arguments.diff_dst = static_cast<const T*>(sources[1]);
    arguments.diff_gate = static_cast<T*>(destinations[0]);
    arguments.workspace = workspace.data();
    return arguments;
}

DTNN_ARGUMENTS_OF_VALUES(ChannelScaleArguments)
DTNN_ARGUMENTS_OF_VALUES(ChannelScaleBackwardGateArguments)

}  // namespace dtnn::kernels
