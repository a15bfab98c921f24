#pragma once
/// Softmax along an axis: y[c] = exp(x[c] - max x) / sum exp(x - max x); backward
/// diff_src[c] = y[c] * (diff_dst[c] - sum over k of diff_dst[k] * y[k]). Its logarithm
/// log_softmax: y[c] = (x[c] - max x) - log sum exp(x - max x); backward diff_src[c] = diff_dst[c]
/// - exp(y[c]) * sum over k of diff_dst[k]. Both have the same arguments. dst may be src, diff_src
/// may be diff_dst.

#include "kernels/arguments/plain.hpp"

namespace dtnn::kernels {

template <class T>
using SoftmaxArguments = LineArguments<T>;

/// Forward keeps its result.
template <class T>
using SoftmaxBackwardArguments = LineGradientArguments<T>;

}  // namespace dtnn::kernels
