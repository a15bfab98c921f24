#pragma once
/// The mean, or the sum, of an elementwise expression:
///
///     dst = 1/D sum over i of f(x0[i], x1[i], ...)
///
/// D is the number of elements, with `rows` the first extent of x0, and with `sum` 1: the result is
/// then f64. Terms are in T, as those of elementwise are, and added in double.

#include "kernels/arguments/elementwise.hpp"
#include "kernels/workspace/loss.hpp"

namespace dtnn::kernels {

template <class T>
struct ElementwiseMeanArguments : FromOperands {
    ElementwiseArguments<T> terms;  ///< without a destination
    double divisor = 1;
    T* mean = nullptr;  ///< or
    double* sum = nullptr;
    double* sums_of_chunks = o.scratch<double>();  ///< workspace of the fast version

    explicit ElementwiseMeanArguments(const Operands& operands) : FromOperands(operands) {
        const TensorType& first = *o.first_source().type();
        terms.count = first.elements();
        terms.read(o);
        terms.tiles =
            reinterpret_cast<T*>(o.scratch() + elementwise_mean_chunks_of(terms.count) * 8);
        if (o.problem.flag("sum")) {
            sum = o.result("loss");
        } else {
            divisor = double(o.problem.flag("rows") ? first.dims[0] : terms.count);
            mean = o.result("loss");
        }
    }
};

}  // namespace dtnn::kernels
