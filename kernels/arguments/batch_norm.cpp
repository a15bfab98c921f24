#include "kernels/arguments/batch_norm.hpp"

#include "kernels/operand_reader.hpp"

namespace dtnn::kernels {

template <class T>
void BatchNormGradient<T>::bind_sources(OperandReader& reader) {
    src_layout = reader.layout();
    src = reader.next<T>();
    diff_dst_layout = reader.layout();
    diff_dst = reader.next<T>();
    gamma = reader.next<Wide<T>>();
    mean = reader.next<double>();
    inverse_deviation = reader.next<Wide<T>>();
}

template <class T>
void BatchNormGradient<T>::bind_relu(const Problem& problem, OperandReader& reader) {
    relu = problem.text("epilogue", "none") == "relu";
    if (relu && !problem.flag("mask")) beta = reader.next<Wide<T>>();
    if (problem.flag("mask")) mask = reader.next<std::uint8_t>();
}

template <class T>
BatchNormTrainingArguments<T> BatchNormTrainingArguments<T>::bind(const Problem& problem,
                                                                  Sources sources,
                                                                  Destinations destinations,
                                                                  Workspace workspace) {
    BatchNormTrainingArguments a;
    OperandReader reader(problem, sources);
    a.epsilon = problem.real("epsilon");
    a.momentum = problem.real("momentum");
    a.relu = problem.text("epilogue", "none") == "relu";
    a.written = has_written_epilogue(problem);
    if (a.written) a.epilogue.read_terms(problem);
    a.src_layout = reader.layout();
    a.src = reader.next<T>();
    a.gamma = reader.next<Wide<T>>();
    a.beta = reader.next<Wide<T>>();
    a.running_mean = reader.next<Wide<T>>();
    a.running_variance = reader.next<Wide<T>>();
    if (problem.flag("statistics")) a.statistics = reader.next<double>();
    a.synchronised = problem.flag("synchronised");
    if (problem.flag("residual")) {
        a.residual_layout = reader.layout();
        a.residual = reader.next<T>();
    }
    a.dst_layout = reader.layout_of(problem.destinations[0]);
    a.dst = static_cast<T*>(destinations[0]);
    a.mean = static_cast<double*>(destinations[1]);
    a.inverse_deviation = static_cast<Wide<T>*>(destinations[2]);
    a.new_running_mean = static_cast<Wide<T>*>(destinations[3]);
    a.new_running_variance = static_cast<Wide<T>*>(destinations[4]);
    if (problem.flag("mask")) a.mask = static_cast<std::uint8_t*>(destinations[5]);
    a.workspace = workspace.data();
    return a;
}

template <class T>
BatchNormBackwardArguments<T> BatchNormBackwardArguments<T>::bind(const Problem& problem,
                                                                  Sources sources,
                                                                  Destinations destinations,
                                                                  Workspace workspace) {
    BatchNormBackwardArguments a;
    OperandReader reader(problem, sources);
    a.bind_sources(reader);
    a.written = has_written_epilogue(problem);
    if (a.written) {
        a.epilogue.read_terms(problem);
        a.beta = reader.next<Wide<T>>();
    } else {
        a.bind_relu(problem, reader);
    }
    a.diff_src_layout = reader.layout_of(problem.destinations[0]);
    a.diff_src = static_cast<T*>(destinations[0]);
    a.diff_gamma = static_cast<Wide<T>*>(destinations[1]);
    a.diff_beta = static_cast<Wide<T>*>(destinations[2]);
    if (problem.flag("residual")) {
        a.diff_residual_layout = reader.layout_of(problem.destinations[3]);
        a.diff_residual = static_cast<T*>(destinations[3]);
    }
    a.workspace = workspace.data();
    return a;
}

template <class T>
BatchNormInferenceArguments<T> BatchNormInferenceArguments<T>::bind(const Problem& problem,
                                                                    Sources sources,
                                                                    Destinations destinations,
                                                                    Workspace workspace) {
    BatchNormInferenceArguments a;
    OperandReader reader(problem, sources);
    a.epsilon = problem.real("epsilon");
    a.relu = problem.text("epilogue", "none") == "relu";
    a.src_layout = reader.layout();
    a.src = reader.next<T>();
    a.gamma = reader.next<Wide<T>>();
    a.beta = reader.next<Wide<T>>();
    a.running_mean = reader.next<Wide<T>>();
    a.running_variance = reader.next<Wide<T>>();
    if (problem.flag("residual")) {
        a.residual_layout = reader.layout();
        a.residual = reader.next<T>();
    }
    a.dst_layout = reader.layout_of(problem.destinations[0]);
    a.dst = static_cast<T*>(destinations[0]);
    a.workspace = workspace.data();
    return a;
}

template <class T>
FoldBatchNormArguments<T> FoldBatchNormArguments<T>::bind(const Problem& problem, Sources sources,
                                                          Destinations destinations,
                                                          Workspace workspace) {
    FoldBatchNormArguments a;
    const TensorDesc& weights = problem.sources[0];
    const auto axis = std::size_t(problem.integer("axis", 0));
    a.channels = weights.dims[axis];
    a.inner = strides_of(weights)[axis];
    a.outer = weights.elements() / (a.channels * a.inner);
    a.epsilon = problem.real("epsilon");
    OperandReader reader(problem, sources);
    a.weights = reader.next<T>();
    a.gamma = reader.next<T>();
    a.beta = reader.next<T>();
    a.running_mean = reader.next<T>();
    a.running_variance = reader.next<T>();
    if (problem.flag("bias")) a.bias = reader.next<T>();
    a.dst_weights = static_cast<T*>(destinations[0]);
    a.dst_bias = static_cast<T*>(destinations[1]);
    a.workspace = workspace.data();
    return a;
}

DTNN_ARGUMENTS_OF_VALUES(BatchNormGradient)
DTNN_ARGUMENTS_OF_VALUES(BatchNormTrainingArguments)
DTNN_ARGUMENTS_OF_VALUES(BatchNormBackwardArguments)
DTNN_ARGUMENTS_OF_VALUES(BatchNormInferenceArguments)
DTNN_ARGUMENTS(FoldBatchNormArguments)

}  // namespace dtnn::kernels
