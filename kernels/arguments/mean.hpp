#pragma once
/// The mean along an axis, which the result lacks: y = 1/E sum over e of x[e]; and its gradient,
/// diff_src[e] = diff_dst / E for all E elements.

#include "kernels/arguments/arguments.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels {

template <class T>
struct MeanArguments {
    AxisView src_view, dst_view;  ///< dst has one element along the axis
    const T* src = nullptr;
    T* dst = nullptr;
    std::byte* workspace = nullptr;  ///< of devices

    static MeanArguments bind(const Problem&, Sources, Destinations, Workspace);
};

template <class T>
struct MeanBackwardArguments {
    AxisView diff_src_view, diff_dst_view;
    const T* diff_dst = nullptr;
    T* diff_src = nullptr;

    static MeanBackwardArguments bind(const Problem&, Sources, Destinations, Workspace);
};

}  // namespace dtnn::kernels
