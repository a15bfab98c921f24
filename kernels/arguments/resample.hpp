#pragma once
/// Operators whose results are weighted sums of source cells, axis by axis, and the pools with
/// windows of uneven extents. Every operand has its own layout (kernels/layout.hpp); the CPU
/// kernels take channels last only.

#include <cstdint>
#include <vector>

#include "kernels/arguments/arguments.hpp"

namespace dtnn::kernels {

/// Along one axis, what each result is made of: cells source[i] times weight[i] for i from first[r]
/// to first[r+1] - 1, in ascending order.
template <class T>
struct AxisTaps {
    std::vector<std::int64_t> first{0};
    std::vector<std::int64_t> source;
    std::vector<Wide<T>> weight;

    std::int64_t results() const { return std::int64_t(first.size()) - 1; }
};

/// Along height and width of the operator that the problem is of, forward or backward.
template <class T>
struct BothTaps : FromOperands {
    AxisTaps<T> y, x;

    explicit BothTaps(const Operands& operands);
};

/// zero_pad2d, upsample2d, adaptive_avg_pool2d and the gradients of all of them, whose taps
/// are the transposed ones:
///   dst[n,c,h,w] = sum over taps i of h, j of w: y.weight[i] * x.weight[j] *
///                  src[n, c, y.source[i], x.source[j]]
template <class T>
struct ResampleArguments : BothTaps<T> {
    using BothTaps<T>::BothTaps;
    ImageLayout src_layout = this->o.first_source().image(),
                dst_layout = this->o.first_result().image();
    const T* src = this->o.first_source();
    T* dst = this->o.first_result();
};

/// adaptive_max_pool2d: the taps are the windows; their weights do not count. An index is h*width
/// + w of the source.
template <class T>
struct AdaptiveMaxArguments : BothTaps<T> {
    using BothTaps<T>::BothTaps;
    ImageLayout src_layout = this->o.source("src").image(),
                dst_layout = this->o.result("dst").image(),
                indices_layout = this->o.result("indices").image();
    const T* src = this->o.source("src");
    T* dst = this->o.result("dst");
    std::int32_t* indices = this->o.result("indices");  ///< null: not wanted
};

/// The taps of a cell of diff_src are the results whose windows it is in.
template <class T>
struct AdaptiveMaxBackwardArguments : BothTaps<T> {
    using BothTaps<T>::BothTaps;
    ImageLayout diff_dst_layout = this->o.source("diff_dst").image(),
                indices_layout = this->o.source("indices").image(),
                diff_src_layout = this->o.result("diff_src").image();
    const T* diff_dst = this->o.source("diff_dst");
    const std::int32_t* indices = this->o.source("indices");
    T* diff_src = this->o.result("diff_src");
};

/// channel_sums: dst[c] = the sum of src over everything but the channels (axis_of).
template <class T>
struct ChannelSumsArguments : FromOperands {
    using FromOperands::FromOperands;
    AxisView src_view = views_of(axis_of(o.problem), *o.source("src").type())[0];
    const T* src = o.source("src");
    Wide<T>* dst = o.result("dst");
    std::byte* workspace = o.scratch();
};

}  // namespace dtnn::kernels
