#include "kernels/arguments/elementwise_mean.hpp"

#include "kernels/problem.hpp"
#include "kernels/workspace/loss.hpp"

namespace dtnn::kernels {

template <class T>
ElementwiseMeanArguments<T> ElementwiseMeanArguments<T>::bind(const Problem& problem,
                                                              Sources sources,
                                                              Destinations destinations,
                                                              Workspace workspace) {
    ElementwiseMeanArguments a;
    const TensorDesc& first = problem.sources[0];
    a.terms.count = first.elements();
    a.terms.read(problem, sources);
    if (problem.flag("sum")) {
        a.sum = static_cast<double*>(destinations[0]);
    } else {
        a.divisor = double(problem.flag("rows") ? first.dims[0] : a.terms.count);
        a.mean = static_cast<T*>(destinations[0]);
    }
    a.sums_of_chunks = reinterpret_cast<double*>(workspace.data());
    a.terms.tiles =
        reinterpret_cast<T*>(workspace.data() + elementwise_mean_chunks_of(a.terms.count) * 8);
    return a;
}

DTNN_ARGUMENTS(ElementwiseMeanArguments)

}  // namespace dtnn::kernels
