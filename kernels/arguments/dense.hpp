#pragma once
/// Dense layers: dst[n,u] = epilogue(bias[u] + sum over k of src[n,k] * weights[k,u]), all
/// row-major in the physical order of their operands (a dense layer that absorbed a flatten reads
/// its rows channels last). All axes of dst but the last are rows. They are convolutions of
/// one-pixel images and share their arguments: channels are K, filters are units.

#include "kernels/arguments/conv2d.hpp"

namespace dtnn::kernels {

template <class T>
struct DenseArguments : Conv2dArguments<T> {
    static DenseArguments bind(const Problem& problem, Sources sources, Destinations destinations,
                               Workspace scratch);
};

template <class T>
struct DenseBackwardDataArguments : Conv2dBackwardDataArguments<T> {
    static DenseBackwardDataArguments bind(const Problem& problem, Sources sources,
                                           Destinations destinations, Workspace scratch);
};

template <class T>
struct DenseBackwardWeightsArguments : Conv2dBackwardWeightsArguments<T> {
    static DenseBackwardWeightsArguments bind(const Problem& problem, Sources sources,
                                              Destinations destinations, Workspace scratch);
};

}  // namespace dtnn::kernels
