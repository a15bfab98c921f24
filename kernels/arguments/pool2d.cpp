#include "kernels/arguments/pool2d.hpp"

#include "kernels/problem.hpp"

namespace dtnn::kernels {
namespace {

/// The window of a pool whose larger side is `image`: the global pools carry no attributes, theirs
/// is all of it.
Window2d window_over(const Problem& problem, const ImageLayout& image) {
    Window2d window = window2d(problem);
    if (problem.integers("kernel").empty()) {
        window.kernel_h = window.stride_h = image.height;
        window.kernel_w = window.stride_w = image.width;
    }
    return window;
}

std::int64_t divisor_over(const Problem& problem, const Window2d& window) {
    return problem.flag("count_include_pad") ? window.kernel_h * window.kernel_w : 0;
}

}  // namespace

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

template <class T>
MaxPool2dArguments<T> MaxPool2dArguments<T>::bind(const Problem& problem, Sources sources,
                                                  Destinations destinations, Workspace) {
    MaxPool2dArguments arguments;
    arguments.window = window2d(problem);
    arguments.src_layout = image_layout(problem.sources[0]);
    arguments.dst_layout = image_layout(problem.destinations[0]);
    arguments.src = static_cast<const T*>(sources[0]);
    arguments.dst = static_cast<T*>(destinations[0]);
    if (problem.flag("indices")) {
        arguments.indices_layout = image_layout(problem.destinations[1]);
        arguments.indices = static_cast<std::uint8_t*>(destinations[1]);
    }
    return arguments;
}

template <class T>
MaxPool2dBackwardArguments<T> MaxPool2dBackwardArguments<T>::bind(const Problem& problem,
                                                                  Sources sources,
                                                                  Destinations destinations,
                                                                  Workspace) {
    MaxPool2dBackwardArguments arguments;
    arguments.window = window2d(problem);
    arguments.diff_dst_layout = image_layout(problem.sources[0]);
    arguments.indices_layout = image_layout(problem.sources[1]);
    arguments.diff_src_layout = image_layout(problem.destinations[0]);
    arguments.diff_dst = static_cast<const T*>(sources[0]);
    arguments.indices = static_cast<const std::uint8_t*>(sources[1]);
    arguments.diff_src = static_cast<T*>(destinations[0]);
    if (problem.flag("mask")) {
        arguments.y_layout = image_layout(problem.sources[2]);
        arguments.y = static_cast<const T*>(sources[2]);
    }
    return arguments;
}

template <class T>
AvgPool2dArguments<T> AvgPool2dArguments<T>::bind(const Problem& problem, Sources sources,
                                                  Destinations destinations, Workspace workspace) {
    AvgPool2dArguments arguments;
    arguments.src_layout = image_layout(problem.sources[0]);
    arguments.dst_layout = image_layout(problem.destinations[0]);
    arguments.window = window_over(problem, arguments.src_layout);
    arguments.divisor = divisor_over(problem, arguments.window);
    arguments.src = static_cast<const T*>(sources[0]);
    arguments.dst = static_cast<T*>(destinations[0]);
    arguments.workspace = workspace.data();
    return arguments;
}

template <class T>
AvgPool2dBackwardArguments<T> AvgPool2dBackwardArguments<T>::bind(const Problem& problem,
                                                                  Sources sources,
                                                                  Destinations destinations,
                                                                  Workspace) {
    AvgPool2dBackwardArguments arguments;
    arguments.diff_dst_layout = image_layout(problem.sources[0]);
    arguments.diff_src_layout = image_layout(problem.destinations[0]);
    arguments.window = window_over(problem, arguments.diff_src_layout);
    arguments.divisor = divisor_over(problem, arguments.window);
    arguments.diff_dst = static_cast<const T*>(sources[0]);
    arguments.diff_src = static_cast<T*>(destinations[0]);
    return arguments;
}

DTNN_ARGUMENTS_OF_VALUES(MaxPool2dArguments)
DTNN_ARGUMENTS_OF_VALUES(MaxPool2dBackwardArguments)
DTNN_ARGUMENTS_OF_VALUES(AvgPool2dArguments)
DTNN_ARGUMENTS_OF_VALUES(AvgPool2dBackwardArguments)

}  // namespace dtnn::kernels
