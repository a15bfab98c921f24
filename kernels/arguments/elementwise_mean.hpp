#pragma once
/// The mean, or the sum, of an elementwise expression:
///
///     dst = 1/D sum over i of f(x0[i], x1[i], ...)
///
/// D is the number of elements, with `rows` the first extent of x0, and with `sum` 1: the result is
/// then f64. Terms are in T, as those of elementwise are, and added in double.

#include "kernels/arguments/elementwise.hpp"

namespace dtnn::kernels {

template <class T>
struct ElementwiseMeanArguments {
    ElementwiseArguments<T> terms;  ///< without a destination
    double divisor = 1;
    T* mean = nullptr;  ///< or
    double* sum = nullptr;
    double* sums_of_chunks = nullptr;  ///< workspace of the fast version

    static ElementwiseMeanArguments bind(const Problem& problem, Sources sources,
                                         Destinations destinations, Workspace workspace);
};

}  // namespace dtnn::kernels
