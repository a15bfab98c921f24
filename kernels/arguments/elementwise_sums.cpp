#include "kernels/arguments/elementwise_sums.hpp"

#include "kernels/layout.hpp"
#include "kernels/problem.hpp"
#include "kernels/workspace/elementwise.hpp"

namespace dtnn::kernels {

template <class T>
ElementwiseSumsArguments<T> ElementwiseSumsArguments<T>::bind(const Problem& problem,
                                                              Sources sources,
                                                              Destinations destinations,
                                                              Workspace workspace) {
    ElementwiseSumsArguments a;
    a.terms.count = problem.sources[0].elements();
    a.terms.read(problem, sources);
    a.numbers = problem.destinations[0].elements();
    a.channel_stride = a.numbers == 1 ? 1 : strides_of(problem.sources[0])[axis_of(problem).first];
    a.dst = static_cast<Wide<T>*>(destinations[0]);
    a.sums = reinterpret_cast<double*>(workspace.data());
    a.terms.tiles = reinterpret_cast<T*>(workspace.data() +
                                         cut_elementwise_sums(a.terms.count, a.places()).stretches *
                                             a.places() * 8);
    return a;
}

DTNN_ARGUMENTS_OF_VALUES(ElementwiseSumsArguments)

}  // namespace dtnn::kernels
