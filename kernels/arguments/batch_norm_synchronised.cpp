#include "kernels/arguments/batch_norm_synchronised.hpp"

#include "kernels/operand_reader.hpp"

namespace dtnn::kernels {

template <class T>
BatchNormSumsArguments<T> BatchNormSumsArguments<T>::bind(const Problem& problem, Sources sources,
                                                          Destinations destinations,
                                                          Workspace workspace) {
    BatchNormSumsArguments a;
    OperandReader reader(problem, sources);
    a.src_layout = reader.layout();
    a.src = reader.next<T>();
    a.running_mean = reader.next<Wide<T>>();
    a.batch_weight = reader.next<Wide<T>>();
    if (problem.flag("statistics")) a.statistics = reader.next<double>();
    a.sums = static_cast<double*>(destinations[0]);
    a.workspace = workspace.data();
    return a;
}

template <class T>
BatchNormBackwardSumsArguments<T> BatchNormBackwardSumsArguments<T>::bind(const Problem& problem,
                                                                          Sources sources,
                                                                          Destinations destinations,
                                                                          Workspace workspace) {
    BatchNormBackwardSumsArguments a;
    OperandReader reader(problem, sources);
    a.bind_sources(reader);
    a.batch_weight = reader.next<Wide<T>>();
    a.bind_relu(problem, reader);
    a.sums = static_cast<double*>(destinations[0]);
    a.diff_gamma = static_cast<Wide<T>*>(destinations[1]);
    a.diff_beta = static_cast<Wide<T>*>(destinations[2]);
    a.workspace = workspace.data();
    return a;
}

template <class T>
BatchNormBackwardApplyArguments<T> BatchNormBackwardApplyArguments<T>::bind(
    const Problem& problem, Sources sources, Destinations destinations, Workspace workspace) {
    BatchNormBackwardApplyArguments a;
    OperandReader reader(problem, sources);
    a.bind_sources(reader);
    a.sums = reader.next<double>();
    a.batch_weight = reader.next<Wide<T>>();
    a.bind_relu(problem, reader);
    a.diff_src_layout = reader.layout_of(problem.destinations[0]);
    a.diff_src = static_cast<T*>(destinations[0]);
    if (problem.flag("residual")) {
        a.diff_residual_layout = reader.layout_of(problem.destinations[1]);
        a.diff_residual = static_cast<T*>(destinations[1]);
    }
    a.workspace = workspace.data();
    return a;
}

DTNN_ARGUMENTS_OF_VALUES(BatchNormSumsArguments)
DTNN_ARGUMENTS_OF_VALUES(BatchNormBackwardSumsArguments)
DTNN_ARGUMENTS_OF_VALUES(BatchNormBackwardApplyArguments)

}  // namespace dtnn::kernels
