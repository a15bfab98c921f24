#include "compiler/passes/shared/invariant.hpp"

namespace dtnn::compiler {

Invariant find_invariant(const Graph& graph) {
    Invariant found{std::vector<bool>(graph.values.size()), std::vector<bool>(graph.nodes.size())};
    for (const Parameter& parameter : graph.parameters)
        found.values[parameter.value.index()] = true;
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        const Node& node = graph.nodes[n];
        bool invariant = true;
        for (const ValueId input : node.inputs)
            invariant = invariant && found.values[input.index()];
        found.nodes[n] = invariant;
        for (const ValueId output : node.outputs)
            found.values[output.index()] = invariant;
    }
    return found;
}

}  // namespace dtnn::compiler
