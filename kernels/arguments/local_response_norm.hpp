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

#include "kernels/arguments/arguments.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels {

template <class T>
struct LocalResponseNormArguments {
    ImageLayout src_layout, dst_layout;
    std::int64_t size = 1;
    double alpha = 0, beta = 0, k = 1;
    const T* src = nullptr;
    T* dst = nullptr;
    std::byte* workspace = nullptr;

    static LocalResponseNormArguments bind(const Problem&, Sources, Destinations, Workspace);
};

template <class T>
struct LocalResponseNormBackwardArguments {
    ImageLayout src_layout, diff_dst_layout, diff_src_layout;
    std::int64_t size = 1;
    double alpha = 0, beta = 0, k = 1;
    const T *src = nullptr, *diff_dst = nullptr;
    T* diff_src = nullptr;
    std::byte* workspace = nullptr;

    static LocalResponseNormBackwardArguments bind(const Problem&, Sources, Destinations,
                                                   Workspace);
};

}  // namespace dtnn::kernels
