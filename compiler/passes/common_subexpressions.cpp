#include <algorithm>
#include <unordered_map>
#include <utility>

#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {

/// Computes once what several nodes compute alike.
///
///     %a = relu(%x)   %b = relu(%x)   %c = add(%a, %b)    ->    %a = relu(%x)   %c = add(%a, %a)
///
/// Two nodes compute the same when operator, attributes and operands agree; operators are functions
/// of these alone, random ones too. The two operands of a sum may change places.
/// After differentiate, whose rules may emit a node twice. Must not fire on updates: each has its
/// own state.
std::optional<Graph> common_subexpressions(const Graph& graph, PassContext&) {
    // The value that stands for each: itself, or the same one computed before.
    std::vector<ValueId> stands(graph.values.size());
    for (std::size_t i = 0; i < stands.size(); ++i)
        stands[i] = ValueId(i);
    std::vector<NodeId> same(graph.nodes.size());       // by node: the earlier one, or invalid
    std::unordered_multimap<std::size_t, NodeId> seen;  // by hash
    seen.reserve(graph.nodes.size());
    const auto operands = [&](const Node& node) {
        ValueList result;
        result.reserve(node.inputs.size());
        for (const ValueId input : node.inputs)
            result.push_back(stands[input.index()]);
        // Larger sums keep their order: it decides how they are rounded.
        if (is_sum(node) && result[1] < result[0]) std::swap(result[0], result[1]);
        return result;
    };
    // A value that ranks exchange is overwritten there: it has a place of its own.
    std::vector<bool> exchanged(graph.values.size());
    for (const Node& node : graph.nodes)
        if (node.phase == Phase::communication)
            for (const ValueId input : node.inputs)
                exchanged[input.index()] = true;
    bool any = false;
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        const Node& node = graph.nodes[n];
        if (node.phase == Phase::update || node.phase == Phase::communication ||
            std::any_of(node.outputs.begin(), node.outputs.end(),
                        [&](ValueId output) { return exchanged[output.index()]; }))
            continue;
        const ValueList inputs = operands(node);
        const std::size_t hash = computation_hash(node.op, inputs, node.attributes);
        const auto [first, last] = seen.equal_range(hash);
        for (auto it = first; it != last && !same[n].valid(); ++it) {
            const Node& earlier = graph.node(it->second);
            if (earlier.op == node.op && earlier.attributes == node.attributes &&
                operands(earlier) == inputs)
                same[n] = it->second;
        }
        if (!same[n].valid()) {
            seen.emplace(hash, NodeId(n));
            continue;
        }
        any = true;
        for (std::size_t i = 0; i < node.outputs.size(); ++i)
            stands[node.outputs[i].index()] = graph.node(same[n]).outputs[i];
    }
    if (!any) return std::nullopt;

    Rewriter r(graph);
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        const Node& node = graph.nodes[n];
        if (!same[n].valid())
            r.copy(node);
        else
            for (std::size_t i = 0; i < node.outputs.size(); ++i)
                r.replace(node.outputs[i], r.map(graph.node(same[n]).outputs[i]));
    }
    return r.take();
}

}  // namespace dtnn::compiler
