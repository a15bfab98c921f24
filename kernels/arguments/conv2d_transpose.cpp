#include "kernels/arguments/conv2d_transpose.hpp"

namespace dtnn::kernels {

template <class T>
Conv2dTransposeArguments<T> Conv2dTransposeArguments<T>::bind(const Problem& problem,
                                                              Sources sources,
                                                              Destinations destinations,
                                                              Workspace scratch) {
    Conv2dTransposeArguments arguments;
    arguments.shape = conv_shape(problem);
    arguments.strides = conv_strides(problem);
    arguments.diff_dst = static_cast<const T*>(sources[0]);
    arguments.weights = static_cast<const T*>(sources[1]);
    if (problem.flag("bias")) arguments.bias = static_cast<const T*>(sources[2]);
    arguments.relu = problem.text("epilogue", "none") == "relu";
    arguments.diff_src = static_cast<T*>(destinations[0]);
    arguments.workspace = scratch;
    return arguments;
}

template struct Conv2dTransposeArguments<float>;
template struct Conv2dTransposeArguments<double>;

}  // namespace dtnn::kernels
