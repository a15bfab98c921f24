#include "compiler/passes/hoist_invariant.hpp"

#include "compiler/passes/shared/invariant.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {

std::optional<Graph> hoist_invariant(const Graph& graph, PassContext&) {
    if (graph.training || !graph.updates.empty()) return std::nullopt;
    const std::vector<bool> moves = find_invariant(graph).nodes;
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
