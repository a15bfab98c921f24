#pragma once
/// Pooling. Every operand has its own layout (kernels/layout.hpp); the CPU kernels take channels
/// last only.

#include "kernels/arguments/arguments.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels {

/// Cell (kh,kw) of window (oh,ow) is at (oh*stride_h - top + kh*dilation_h, ow*stride_w - left +
/// kw*dilation_w).
struct Window2d {
    std::int64_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, top = 0, left = 0,
                 dilation_h = 1, dilation_w = 1;
};
Window2d window2d(const Problem& problem);

/// Marks a window without a single cell inside the image, in `indices`.
inline constexpr std::uint8_t kNoCell = 255;

template <class T>
struct MaxPool2dArguments {
    Window2d window;
    ImageLayout src_layout, dst_layout, indices_layout;
    const T* src = nullptr;
    T* dst = nullptr;
    std::uint8_t* indices = nullptr;  ///< null: not wanted

    static MaxPool2dArguments bind(const Problem&, Sources, Destinations, Workspace);
};

template <class T>
struct MaxPool2dBackwardArguments {
    Window2d window;
    ImageLayout diff_dst_layout, indices_layout, y_layout, diff_src_layout;
    const T* diff_dst = nullptr;
    const std::uint8_t* indices = nullptr;
    const T* y = nullptr;  ///< null: no mask
    T* diff_src = nullptr;

    static MaxPool2dBackwardArguments bind(const Problem&, Sources, Destinations, Workspace);
};

/// avg_pool2d and global_avg_pool2d, whose window is the whole image.
template <class T>
struct AvgPool2dArguments {
    Window2d window;
    std::int64_t divisor = 0;  ///< of a window's sum; 0: the window's cells inside the image
    ImageLayout src_layout, dst_layout;
    const T* src = nullptr;
    T* dst = nullptr;
    std::byte* workspace = nullptr;

    static AvgPool2dArguments bind(const Problem&, Sources, Destinations, Workspace);
};

template <class T>
struct AvgPool2dBackwardArguments {
    Window2d window;
    std::int64_t divisor = 0;  ///< as forward
    ImageLayout diff_dst_layout, diff_src_layout;
    const T* diff_dst = nullptr;
    T* diff_src = nullptr;

    static AvgPool2dBackwardArguments bind(const Problem&, Sources, Destinations, Workspace);
};

}  // namespace dtnn::kernels
