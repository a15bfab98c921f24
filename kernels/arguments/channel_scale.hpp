#pragma once
/// An image, or a tensor with channels along another axis (axis_of), times one number per sample
/// and channel: dst[n,c,h,w] = src[n,c,h,w] * gate[n,c], and
/// the gate's gradient, diff_gate[n,c] = sum over h and w of src[n,c,h,w] * diff_dst[n,c,h,w].
/// Gates are [N,C] or [N,C,1,1], or have one element along all other axes: sample by sample,
/// channel by channel, however they are stored.

#include "kernels/arguments/arguments.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels {

template <class T>
struct ChannelScaleArguments {
    ImageLayout src_layout, dst_layout;
    const T* src = nullptr;
    const T* gate = nullptr;
    T* dst = nullptr;  ///< may be the source

    static ChannelScaleArguments bind(const Problem&, Sources, Destinations, Workspace);
};

template <class T>
struct ChannelScaleBackwardGateArguments {
    ImageLayout src_layout, diff_dst_layout;
    const T* src = nullptr;
    const T* diff_dst = nullptr;
    T* diff_gate = nullptr;
    std::byte* workspace = nullptr;

    static ChannelScaleBackwardGateArguments bind(const Problem&, Sources, Destinations, Workspace);
};

}  // namespace dtnn::kernels
