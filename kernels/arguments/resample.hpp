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
struct BothTaps {
    AxisTaps<T> y, x;

    explicit BothTaps(const Problem& problem);
};

/// zero_pad2d, upsample2d, adaptive_avg_pool2d and the gradients of all of them, whose taps
/// are the transposed ones:
///   dst[n,c,h,w] = sum over taps i of h, j of w: y.weight[i] * x.weight[j] *
///                  src[n, c, y.source[i], x.source[j]]
template <class T>
struct ResampleArguments : BothTaps<T> {
    ImageLayout src_layout, dst_layout;
    const T* src = nullptr;
    T* dst = nullptr;

    explicit ResampleArguments(const Operands& o)
        : BothTaps<T>(o.problem),
          src_layout(o.first_source().image()),
          dst_layout(o.first_result().image()),
          src(o.first_source()),
          dst(o.first_result()) {}
};

/// adaptive_max_pool2d: the taps are the windows; their weights do not count. An index is h*width
/// + w of the source.
template <class T>
struct AdaptiveMaxArguments : BothTaps<T> {
    ImageLayout src_layout, dst_layout, indices_layout;
    const T* src = nullptr;
    T* dst = nullptr;
    std::int32_t* indices = nullptr;  ///< null: not wanted

    explicit AdaptiveMaxArguments(const Operands& o)
        : BothTaps<T>(o.problem),
          src_layout(o.source("src").image()),
          dst_layout(o.result("dst").image()),
          indices_layout(o.result("indices").image()),
          src(o.source("src")),
          dst(o.result("dst")),
          indices(o.result("indices")) {}
};

/// The taps of a cell of diff_src are the results whose windows it is in.
template <class T>
struct AdaptiveMaxBackwardArguments : BothTaps<T> {
    ImageLayout diff_dst_layout, indices_layout, diff_src_layout;
    const T* diff_dst = nullptr;
    const std::int32_t* indices = nullptr;
    T* diff_src = nullptr;

    explicit AdaptiveMaxBackwardArguments(const Operands& o)
        : BothTaps<T>(o.problem),
          diff_dst_layout(o.source("diff_dst").image()),
          indices_layout(o.source("indices").image()),
          diff_src_layout(o.result("diff_src").image()),
          diff_dst(o.source("diff_dst")),
          indices(o.source("indices")),
          diff_src(o.result("diff_src")) {}
};

/// channel_sums: dst[c] = the sum of src over everything but the channels (axis_of).
template <class T>
struct ChannelSumsArguments {
    AxisView src_view;
    const T* src = nullptr;
    Wide<T>* dst = nullptr;
    std::byte* workspace = nullptr;

    explicit ChannelSumsArguments(const Operands& o)
        : src_view(views_of(axis_of(o.problem), *o.source("src").type())[0]),
          src(o.source("src")),
          dst(o.result("dst")),
          workspace(o.scratch()) {}
};

}  // namespace dtnn::kernels
