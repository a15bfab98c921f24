#include "compiler/passes/read_averages.hpp"

#include <algorithm>

#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {

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
