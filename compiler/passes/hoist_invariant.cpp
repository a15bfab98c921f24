#include "compiler/passes/hoist_invariant.hpp"

#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {

std::optional<Graph> hoist_invariant(const Graph& graph, PassContext&) {
    if (graph.training || !graph.updates.empty()) return std::nullopt;
    std::vector<bool> invariant(graph.values.size());
    for (const Parameter& parameter : graph.parameters)
        invariant[parameter.value.index()] = true;
    std::vector<bool> moves(graph.nodes.size());
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        const Node& node = graph.nodes[n];
        moves[n] = true;
        for (const ValueId input : node.inputs)
            moves[n] = moves[n] && invariant[input.index()];
        for (const ValueId output : node.outputs)
            invariant[output.index()] = moves[n];
    }
    Rewriter r(graph);
    int prologue = 0;
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        if (!moves[n]) continue;
        r.copy(graph.nodes[n]);
        ++prologue;
    }
    for (std::size_t n = 0; n < graph.nodes.size(); ++n)
        if (!moves[n]) r.copy(graph.nodes[n]);
    Graph result = r.take();
    result.prologue = prologue;
    return result;
}

}  // namespace dtnn::compiler
