#pragma once
/// Sums of an elementwise expression over everything but the channels of x0, or over all:
///
///     dst[c] = sum over the elements i of channel c of f(x0[i], x1[i], ...)
///
/// Terms are in T, as those of elementwise are, and added in double.

#include "kernels/arguments/elementwise.hpp"
#include "kernels/workspace/elementwise.hpp"

namespace dtnn::kernels {

template <class T>
struct ElementwiseSumsArguments : FromOperands {
    ElementwiseArguments<T> terms;                      ///< without a destination
    std::int64_t numbers = o.result("dst").elements();  ///< of the result: the channels, or 1
    std::int64_t channel_stride = 1;
    Wide<T>* dst = o.result("dst");
    double* sums = o.scratch<double>();  ///< workspace

    /// Neighbours before the channels begin again.
    std::int64_t places() const { return numbers * channel_stride; }

    explicit ElementwiseSumsArguments(const Operands& operands) : FromOperands(operands) {
        const TensorType& first = *o.first_source().type();
        terms.count = first.elements();
        terms.read(o);
        if (numbers > 1) channel_stride = strides_of(first)[axis_of(o.problem).first];
        const std::int64_t stretches = cut_elementwise_sums(terms.count, places()).stretches;
        terms.tiles = reinterpret_cast<T*>(o.scratch() + stretches * places() * 8);
    }
};

}  // namespace dtnn::kernels
