#include "compiler/passes/training/freeze_parameters.hpp"

#include <algorithm>

#include "compiler/passes/shared/parameter_groups.hpp"

namespace dtnn::compiler {

std::optional<Graph> freeze_parameters(const Graph& graph, PassContext& context) {
    const auto freezes = [&](const Parameter& parameter) {
        return parameter.trainable && is_frozen(context.training, parameter.name);
    };
    if (std::none_of(graph.parameters.begin(), graph.parameters.end(), freezes))
        return std::nullopt;
    Graph result = graph;
    result.parameters = {};
    for (Parameter parameter : graph.parameters) {
        if (freezes(parameter)) parameter.trainable = false;
        result.parameters.push_back(std::move(parameter));
    }
    return result;
}

}  // namespace dtnn::compiler
