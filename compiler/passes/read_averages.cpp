#include <algorithm>

#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/optimizer_graph.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {

/// With average_decay, evaluation and prediction read the moving averages of the weights:
///
///     %y = conv2d(%x, @w)   ->   %y = conv2d(%x, @w.average)
///
/// Reads averages of trainable parameters only: frozen ones, and the moving statistics of batch
/// norm, have no average and are read as they are. After layout, which decides how a parameter is
/// stored by how it is read; before hoist_invariant, so that what depends on averages only runs
/// once per pass over the data. Must not fire without average_decay.
std::optional<Graph> read_averages(const Graph& graph, PassContext& context) {
    if (!(context.training.average_decay > 0)) return std::nullopt;
    const auto is_average = [](const Parameter& parameter) {
        return parameter.kind == plan::ParameterKind::average;
    };
    const auto is_trainable = [](const Parameter& parameter) { return parameter.trainable; };
    const ParameterTable& parameters = graph.parameters;
    if (std::any_of(parameters.begin(), parameters.end(), is_average) ||
        std::none_of(parameters.begin(), parameters.end(), is_trainable))
        return std::nullopt;
    Rewriter r(graph);
    for (const Parameter& parameter : parameters)
        if (parameter.trainable)
            r.replace(parameter.value,
                      r.add_parameter(average_of(parameter), graph.type(parameter.value)));
    for (const Node& node : graph.nodes)
        r.copy(node);
    return r.take();
}

}  // namespace dtnn::compiler
