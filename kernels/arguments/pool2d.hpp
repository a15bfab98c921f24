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
struct MaxPool2dArguments : FromOperands {
    using FromOperands::FromOperands;
    Window2d window = window2d(o.problem);
    ImageLayout src_layout = o.source("src").image(), dst_layout = o.result("dst").image(),
                indices_layout = o.result("indices").image();
    const T* src = o.source("src");
    T* dst = o.result("dst");
    std::uint8_t* indices = o.result("indices");  ///< null: not wanted
};

template <class T>
struct MaxPool2dBackwardArguments : FromOperands {
    using FromOperands::FromOperands;
    Window2d window = window2d(o.problem);
    ImageLayout diff_dst_layout = o.source("diff_dst").image(),
                indices_layout = o.source("indices").image(), y_layout = o.source("y").image(),
                diff_src_layout = o.result("diff_src").image();
    const T* diff_dst = o.source("diff_dst");
    const std::uint8_t* indices = o.source("indices");
    const T* y = o.source("y");  ///< null: no mask
    T* diff_src = o.result("diff_src");
};

struct MeanWindow : FromOperands {
    Window2d window = window2d(o.problem);
    std::int64_t divisor = 0;  ///< of a window's sum; 0: the window's cells inside the image

    /// `image` is the larger side; without attributes the window is all of it.
    MeanWindow(const Operands& operands, const ImageLayout& image);
};

/// avg_pool2d and global_avg_pool2d, whose window is the whole image.
template <class T>
struct AvgPool2dArguments : MeanWindow {
    ImageLayout src_layout = o.source("src").image(), dst_layout = o.result("dst").image();
    const T* src = o.source("src");
    T* dst = o.result("dst");
    std::byte* workspace = o.scratch();

    explicit AvgPool2dArguments(const Operands& operands)
        : MeanWindow(operands, operands.source("src").image()) {}
};

template <class T>
struct AvgPool2dBackwardArguments : MeanWindow {
    ImageLayout diff_dst_layout = o.source("diff_dst").image(),
                diff_src_layout = o.result("diff_src").image();
    const T* diff_dst = o.source("diff_dst");
    T* diff_src = o.result("diff_src");

    explicit AvgPool2dBackwardArguments(const Operands& operands)
        : MeanWindow(operands, operands.result("diff_src").image()) {}
};

}  // namespace dtnn::kernels
