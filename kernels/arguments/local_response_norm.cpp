#include "kernels/arguments/local_response_norm.hpp"

#include "kernels/problem.hpp"

namespace dtnn::kernels {
namespace {

template <class Arguments>
void bind_constants(Arguments& a, const Problem& problem) {
    a.size = problem.integer("size");
    a.alpha = problem.real("alpha");
    a.beta = problem.real("beta");
    a.k = problem.real("k");
}

}  // namespace

template <class T>
LocalResponseNormArguments<T> LocalResponseNormArguments<T>::bind(const Problem& problem,
                                                                  Sources sources,
                                                                  Destinations destinations,
                                                                  Workspace workspace) {
    LocalResponseNormArguments a;
    bind_constants(a, problem);
    a.src_layout = image_layout(problem.sources[0]);
    a.dst_layout = image_layout(problem.destinations[0]);
    a.src = static_cast<const T*>(sources[0]);
    a.dst = static_cast<T*>(destinations[0]);
    a.workspace = workspace.data();
    return a;
}

template <class T>
LocalResponseNormBackwardArguments<T> LocalResponseNormBackwardArguments<T>::bind(
    const Problem& problem, Sources sources, Destinations destinations, Workspace workspace) {
    LocalResponseNormBackwardArguments a;
    bind_constants(a, problem);
    a.src_layout = image_layout(problem.sources[0]);
    a.diff_dst_layout = image_layout(problem.sources[1]);
    a.diff_src_layout = image_layout(problem.destinations[0]);
    a.src = static_cast<const T*>(sources[0]);
    a.diff_dst = static_cast<const T*>(sources[1]);
    a.diff_src = static_cast<T*>(destinations[0]);
    a.workspace = workspace.data();
    return a;
}

template struct LocalResponseNormArguments<float>;
template struct LocalResponseNormArguments<double>;
template struct LocalResponseNormBackwardArguments<float>;
template struct LocalResponseNormBackwardArguments<double>;

}  // namespace dtnn::kernels
