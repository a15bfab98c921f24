#pragma once
/// An image, or a tensor with channels along another axis (axis_of), times one number per sample
/// and channel: dst[n,c,h,w] = src[n,c,h,w] * gate[n,c], and
/// the gate's gradient, diff_gate[n,c] = sum over h and w of src[n,c,h,w] * diff_dst[n,c,h,w].
/// Gates are [N,C] or [N,C,1,1], or have one element along all other axes: sample by sample,
/// channel by channel, however they are stored.

#include "kernels/arguments/arguments.hpp"

namespace dtnn::kernels {

template <class T>
struct ChannelScaleArguments {
    ImageLayout src_layout, dst_layout;
    const T* src = nullptr;
    const T* gate = nullptr;
    T* dst = nullptr;  ///< may be the source

    explicit ChannelScaleArguments(const Operands& o)
        : src_layout(o.source("src").by_sample()),
          dst_layout(o.result("dst").by_sample()),
          src(o.source("src")),
          gate(o.source("gate")),
          dst(o.result("dst")) {}
};

template <class T>
struct ChannelScaleBackwardGateArguments {
    ImageLayout src_layout, diff_dst_layout;
    const T* src = nullptr;
    const T* diff_dst = nullptr;
    T* diff_gate = nullptr;
    std::byte* workspace = nullptr;

    explicit ChannelScaleBackwardGateArguments(const Operands& o)
        : src_layout(o.source("src").by_sample()),
          diff_dst_layout(o.source("diff_dst").by_sample()),
          src(o.source("src")),
          diff_dst(o.source("diff_dst")),
          diff_gate(o.result("diff_gate")),
          workspace(o.scratch()) {}
};

}  // namespace dtnn::kernels
