#include "kernels/arguments/pool2d.hpp"

namespace dtnn::kernels {
Window2d window2d(const Problem& problem) {
    Window2d window;
    const auto read = [&](const char* name, std::int64_t& first, std::int64_t& second,
                          std::size_t place = 1) {
        const std::vector<std::int64_t> values = problem.integers(name);
        if (values.size() <= place) return;
        first = values[0];
        second = values[place];
    };
    read("kernel", window.kernel_h, window.kernel_w);
    read("stride", window.stride_h, window.stride_w);
    read("padding", window.top, window.left, 2);
    read("dilation", window.dilation_h, window.dilation_w);
    return window;
}

MeanWindow::MeanWindow(const Operands& operands, const ImageLayout& image)
    : FromOperands(operands) {
    if (o.problem.integers("kernel").empty()) {
        window.kernel_h = window.stride_h = image.height;
        window.kernel_w = window.stride_w = image.width;
    }
    if (o.problem.flag("count_include_pad")) divisor = window.kernel_h * window.kernel_w;
}

}  // namespace dtnn::kernels
