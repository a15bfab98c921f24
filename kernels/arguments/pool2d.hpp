#pragma once
/// Pooling. Every operand has its own layout (kernels/layout.hpp); the CPU kernels take channels
/// last only.

#include "kernels/arguments/arguments.hpp"

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

    explicit MaxPool2dArguments(const Operands& o)
        : window(window2d(o.problem)),
          src_layout(o.source("src").image()),
          dst_layout(o.result("dst").image()),
          indices_layout(o.result("indices").image()),
          src(o.source("src")),
          dst(o.result("dst")),
          indices(o.result("indices")) {}
};

template <class T>
struct MaxPool2dBackwardArguments {
    Window2d window;
    ImageLayout diff_dst_layout, indices_layout, y_layout, diff_src_layout;
    const T* diff_dst = nullptr;
    const std::uint8_t* indices = nullptr;
    const T* y = nullptr;  ///< null: no mask
    T* diff_src = nullptr;

    explicit MaxPool2dBackwardArguments(const Operands& o)
        : window(window2d(o.problem)),
          diff_dst_layout(o.source("diff_dst").image()),
          indices_layout(o.source("indices").image()),
          y_layout(o.source("y").image()),
          diff_src_layout(o.result("diff_src").image()),
          diff_dst(o.source("diff_dst")),
          indices(o.source("indices")),
          y(o.source("y")),
          diff_src(o.result("diff_src")) {}
};

struct MeanWindow {
    Window2d window;
    std::int64_t divisor = 0;  ///< of a window's sum; 0: the window's cells inside the image

    /// `image` is the larger side; without attributes the window is all of it.
    MeanWindow(const Problem& problem, const ImageLayout& image);
};

/// avg_pool2d and global_avg_pool2d, whose window is the whole image.
template <class T>
struct AvgPool2dArguments : MeanWindow {
    ImageLayout src_layout, dst_layout;
    const T* src = nullptr;
    T* dst = nullptr;
    std::byte* workspace = nullptr;

    explicit AvgPool2dArguments(const Operands& o)
        : MeanWindow(o.problem, o.source("src").image()),
          src_layout(o.source("src").image()),
          dst_layout(o.result("dst").image()),
          src(o.source("src")),
          dst(o.result("dst")),
          workspace(o.scratch()) {}
};

template <class T>
struct AvgPool2dBackwardArguments : MeanWindow {
    ImageLayout diff_dst_layout, diff_src_layout;
    const T* diff_dst = nullptr;
    T* diff_src = nullptr;

    explicit AvgPool2dBackwardArguments(const Operands& o)
        : MeanWindow(o.problem, o.result("diff_src").image()),
          diff_dst_layout(o.source("diff_dst").image()),
          diff_src_layout(o.result("diff_src").image()),
          diff_dst(o.source("diff_dst")),
          diff_src(o.result("diff_src")) {}
};

}  // namespace dtnn::kernels
