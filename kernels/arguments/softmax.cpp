#include "kernels/arguments/softmax.hpp"

#include "kernels/problem.hpp"

namespace dtnn::kernels {

template <class T>
SoftmaxArguments<T> SoftmaxArguments<T>::bind(const Problem& problem, Sources sources,
                                              Destinations destinations, Workspace) {
    SoftmaxArguments a;
    a.src_layout = image_layout(problem.sources[0]);
    a.dst_layout = image_layout(problem.destinations[0]);
    a.src = static_cast<const T*>(sources[0]);
    a.dst = static_cast<T*>(destinations[0]);
    return a;
}

template <class T>
SoftmaxBackwardArguments<T> SoftmaxBackwardArguments<T>::bind(const Problem& problem,
                                                              Sources sources,
                                                              Destinations destinations,
                                                              Workspace) {
    SoftmaxBackwardArguments a;
    a.dst_layout = image_layout(problem.sources[0]);
    a.diff_dst_layout = image_layout(problem.sources[1]);
    a.diff_src_layout = image_layout(problem.destinations[0]);
    a.dst = static_cast<const T*>(sources[0]);
    a.diff_dst = static_cast<const T*>(sources[1]);
    a.diff_src = static_cast<T*>(destinations[0]);
    return a;
}

template struct SoftmaxArguments<float>;
template struct SoftmaxArguments<double>;
template struct SoftmaxBackwardArguments<float>;
template struct SoftmaxBackwardArguments<double>;

}  // namespace dtnn::kernels
