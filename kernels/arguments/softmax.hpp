#pragma once
/// Softmax over the channels: y[c] = exp(x[c] - max x) / sum exp(x - max x); backward
/// diff_src[c] = y[c] * (diff_dst[c] - sum over k of diff_dst[k] * y[k]). Its logarithm
/// log_softmax: y[c] = (x[c] - max x) - log sum exp(x - max x); backward diff_src[c] = diff_dst[c]
/// - exp(y[c]) * sum over k of diff_dst[k]. Both have the same arguments. dst may be src, diff_src
/// may be diff_dst.

#include "kernels/arguments/arguments.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels {

template <class T>
struct SoftmaxArguments {
    ImageLayout src_layout, dst_layout;
    const T* src = nullptr;
    T* dst = nullptr;

    static SoftmaxArguments bind(const Problem&, Sources, Destinations, Workspace);
};

template <class T>
struct SoftmaxBackwardArguments {
    ImageLayout dst_layout, diff_dst_layout, diff_src_layout;
    const T *dst = nullptr, *diff_dst = nullptr;
    T* diff_src = nullptr;

    static SoftmaxBackwardArguments bind(const Problem&, Sources, Destinations, Workspace);
};

}  // namespace dtnn::kernels
