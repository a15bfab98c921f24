#pragma once
/// Local response normalisation across the channels of a pixel (Krizhevsky, Sutskever and Hinton,
/// "ImageNet classification with deep convolutional neural networks", 2012), as PyTorch defines it:
///
///     s_c = k + alpha / size * sum of x_j^2        j from c - floor(size / 2), `size` of them,
///     y_c = x_c * s_c^-beta                        as far as there are channels
///
///     diff_src_i = diff_dst_i * s_i^-beta
///                  - 2 * alpha * beta / size * x_i * sum of diff_dst_c * x_c * s_c^(-beta - 1)
///
/// the last sum over the channels c whose window has i. No result may lie on a source: neighbours
/// are read after it is written.

#include "kernels/arguments/plain.hpp"

namespace dtnn::kernels {

struct LocalResponse {
    std::int64_t size;
    double alpha, beta, k;

    explicit LocalResponse(const Problem& problem)
        : size(problem.integer("size")),
          alpha(problem.real("alpha")),
          beta(problem.real("beta")),
          k(problem.real("k")) {}
};

template <class T>
using LocalResponseNormArguments = UnaryArguments<T, LocalResponse>;

/// Forward keeps its source.
template <class T>
using LocalResponseNormBackwardArguments = GradientArguments<T, LocalResponse>;

}  // namespace dtnn::kernels
