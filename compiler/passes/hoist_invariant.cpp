#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/invariant.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {

/// Moves nodes that depend on parameters only to the front, into the prologue, which runs once
/// before the first batch of a pass over data.
///
///     %y = relu(%x)                              %w = fold_batch_norm(@a, @b, ...)
///     %w = fold_batch_norm(@a, @b, ...)    ->    end prologue
///     %z = conv2d(%y, %w)                        %y = relu(%x)   %z = conv2d(%y, %w)
///
/// After layout, so that reordered weights are hoisted too. Must not fire in training: a step
/// changes the parameters.
std::optional<Graph> hoist_invariant(const Graph& graph, PassContext&) {
    if (graph.training || changes_parameters(graph)) return std::nullopt;
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
