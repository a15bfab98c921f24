#pragma once
/// An image, or a tensor with channels along another axis (axis_of), times one number per sample
/// and channel: dst[n,c,h,w] = src[n,c,h,w] * gate[n,c], and
/// the gate's gradient, diff_gate[n,c] = sum over h and w of src[n,c,h,w] * diff_dst[n,c,h,w].
/// Gates are [N,C] or [N,C,1,1], or have one element along all other axes: sample by sample,
/// channel by channel, however they are stored.

#include "kernels/arguments/arguments.hpp"

namespace dtnn::kernels {

template <class T>
struct ChannelScaleArguments : FromOperands {
    using FromOperands::FromOperands;
    ImageLayout src_layout = o.source("src").by_sample(), dst_layout = o.result("dst").by_sample();
    const T* src = o.source("src");
    const T* gate = o.source("gate");
    T* dst = o.result("dst");  ///< may be the source
};

template <class T>
struct ChannelScaleBackwardGateArguments : FromOperands {
    using FromOperands::FromOperands;
    ImageLayout src_layout = o.source("src").by_sample(),
                diff_dst_layout = o.source("diff_dst").by_sample();
    const T* src = o.source("src");
    const T* diff_dst = o.source("diff_dst");
    T* diff_gate = o.result("diff_gate");
    std::byte* workspace = o.scratch();
};

}  // namespace dtnn::kernels
