#include "kernels/arguments/conv2d.hpp"

#include "kernels/arguments/conv2d_transpose.hpp"
#include "kernels/arguments/dense.hpp"
#include "kernels/packed_weights.hpp"

namespace dtnn::kernels {
namespace {

template <class T>
const T* source(Sources sources, std::size_t index) {
    return static_cast<const T*>(sources[index]);
}

template <class T>
T* destination(Destinations destinations, std::size_t index) {
    return static_cast<T*>(destinations[index]);
}

template <class Arguments>
void bind_convolution(Arguments& arguments, const Problem& problem) {
    arguments.shape = conv_shape(problem);
    arguments.strides = conv_strides(problem);
    arguments.tf32 = problem.flag("tf32");
    arguments.bf16 = problem.flag("bf16");
    arguments.engine = int(problem.integer("engine", -1));
}

template <class Arguments>
void bind_dense(Arguments& arguments, const Problem& problem) {
    arguments.shape = dense_shape(problem);
    arguments.strides = channels_last_strides(arguments.shape);
    if (const std::int64_t block = packed_block(problem); block > 0)
        pack(arguments.strides, arguments.shape, block);
    arguments.tf32 = problem.flag("tf32");
    arguments.bf16 = problem.flag("bf16");
    arguments.engine = int(problem.integer("engine", -1));
}

template <class T>
void bind_forward(Conv2dArguments<T>& arguments, const Problem& problem, Sources sources,
                  Destinations destinations, Workspace scratch) {
    std::size_t next = 2;
    arguments.relu = problem.text("epilogue", "none") == "relu";
    arguments.written = has_written_epilogue(problem);
    if (arguments.written) arguments.epilogue.read_terms(problem);
    arguments.src = source<T>(sources, 0);
    arguments.weights = source<T>(sources, 1);
    if (problem.flag("bias")) arguments.bias = source<Wide<T>>(sources, next++);
    if (problem.flag("residual")) arguments.residual = source<T>(sources, next++);
    arguments.dst = destination<T>(destinations, 0);
    if (problem.flag("statistics")) arguments.statistics = destination<double>(destinations, 1);
    arguments.workspace = scratch;
}

template <class T>
void bind_backward_data(Conv2dBackwardDataArguments<T>& arguments, const Problem& problem,
                        Sources sources, Destinations destinations, Workspace scratch) {
    arguments.diff_dst = source<T>(sources, 0);
    arguments.weights = source<T>(sources, 1);
    if (problem.flag("mask")) arguments.mask = source<T>(sources, 2);
    arguments.diff_src = destination<T>(destinations, 0);
    arguments.workspace = scratch;
}

template <class T>
void bind_backward_weights(Conv2dBackwardWeightsArguments<T>& arguments, const Problem& problem,
                           Sources sources, Destinations destinations, Workspace scratch) {
    arguments.src = source<T>(sources, 0);
    arguments.diff_dst = source<T>(sources, 1);
    arguments.diff_weights = destination<Wide<T>>(destinations, 0);
    if (problem.flag("bias")) arguments.diff_bias = destination<Wide<T>>(destinations, 1);
    arguments.workspace = scratch;
}

}  // namespace

template <class T>
Conv2dArguments<T> Conv2dArguments<T>::bind(const Problem& problem, Sources sources,
                                            Destinations destinations, Workspace scratch) {
    Conv2dArguments arguments;
    bind_convolution(arguments, problem);
    bind_forward<T>(arguments, problem, sources, destinations, scratch);
    return arguments;
}

template <class T>
DenseArguments<T> DenseArguments<T>::bind(const Problem& problem, Sources sources,
                                          Destinations destinations, Workspace scratch) {
    DenseArguments arguments;
    bind_dense(arguments, problem);
    bind_forward<T>(arguments, problem, sources, destinations, scratch);
    return arguments;
}

template <class T>
Conv2dBackwardDataArguments<T> Conv2dBackwardDataArguments<T>::bind(const Problem& problem,
                                                                    Sources sources,
                                                                    Destinations destinations,
                                                                    Workspace scratch) {
    Conv2dBackwardDataArguments arguments;
    bind_convolution(arguments, problem);
    bind_backward_data<T>(arguments, problem, sources, destinations, scratch);
    return arguments;
}

template <class T>
DenseBackwardDataArguments<T> DenseBackwardDataArguments<T>::bind(const Problem& problem,
                                                                  Sources sources,
                                                                  Destinations destinations,
                                                                  Workspace scratch) {
    DenseBackwardDataArguments arguments;
    bind_dense(arguments, problem);
    bind_backward_data<T>(arguments, problem, sources, destinations, scratch);
    return arguments;
}

template <class T>
Conv2dBackwardWeightsArguments<T> Conv2dBackwardWeightsArguments<T>::bind(const Problem& problem,
                                                                          Sources sources,
                                                                          Destinations destinations,
                                                                          Workspace scratch) {
    Conv2dBackwardWeightsArguments arguments;
    bind_convolution(arguments, problem);
    bind_backward_weights<T>(arguments, problem, sources, destinations, scratch);
    return arguments;
}

template <class T>
DenseBackwardWeightsArguments<T> DenseBackwardWeightsArguments<T>::bind(const Problem& problem,
                                                                        Sources sources,
                                                                        Destinations destinations,
                                                                        Workspace scratch) {
    DenseBackwardWeightsArguments arguments;
    bind_dense(arguments, problem);
    bind_backward_weights<T>(arguments, problem, sources, destinations, scratch);
    return arguments;
}

template <class T>
Conv2dTransposeArguments<T> Conv2dTransposeArguments<T>::bind(const Problem& problem,
                                                              Sources sources,
                                                              Destinations destinations,
                                                              Workspace scratch) {
    Conv2dTransposeArguments arguments;
    bind_convolution(arguments, problem);
    bind_backward_data<T>(arguments, problem, sources, destinations, scratch);
    if (problem.flag("bias")) arguments.bias = source<Wide<T>>(sources, 2);
    arguments.relu = problem.text("epilogue", "none") == "relu";
    return arguments;
}

DTNN_ARGUMENTS_OF_VALUES(Conv2dArguments)
DTNN_ARGUMENTS_OF_VALUES(Conv2dBackwardDataArguments)
DTNN_ARGUMENTS_OF_VALUES(Conv2dBackwardWeightsArguments)
DTNN_ARGUMENTS_OF_VALUES(Conv2dTransposeArguments)
DTNN_ARGUMENTS_OF_VALUES(DenseArguments)
DTNN_ARGUMENTS_OF_VALUES(DenseBackwardDataArguments)
DTNN_ARGUMENTS_OF_VALUES(DenseBackwardWeightsArguments)

}  // namespace dtnn::kernels
