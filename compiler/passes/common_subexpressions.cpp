#include "compiler/passes/common_subexpressions.hpp"

#include <unordered_map>
#include <utility>

#include "compiler/passes/rewriting.hpp"

namespace dtnn::compiler {

Graph common_subexpressions(const Graph& graph, PassContext&) {
    Rewriter r(graph);
    std::unordered_multimap<std::size_t, NodeId> seen;  // nodes of the new graph by their hash
    for (const Node& node : graph.nodes) {
        if (node.phase == Phase::update) {
            r.copy(node);
            continue;
        }
        Node key = r.mapped(node);
        // Larger sums keep their order: it decides how they are rounded.
        if (key.op == "add" && key.inputs.size() == 2 && key.inputs[1] < key.inputs[0])
            std::swap(key.inputs[0], key.inputs[1]);
        const std::size_t hash = computation_hash(key);
        const auto [first, last] = seen.equal_range(hash);
        const Node* same = nullptr;
        for (auto it = first; it != last && !same; ++it) {
            const Node& candidate = r.graph().node(it->second);
            Node other = candidate;
            if (other.op == "add" && other.inputs.size() == 2 && other.inputs[1] < other.inputs[0])
                std::swap(other.inputs[0], other.inputs[1]);
            if (same_computation(other, key)) same = &candidate;
        }
        if (same) {
            for (std::size_t i = 0; i < node.outputs.size(); ++i)
                r.replace(node.outputs[i], same->outputs[i]);
        } else {
            seen.emplace(hash, NodeId(r.graph().nodes.size()));
            r.copy(node);
        }
    }
    return r.take();
}

}  // namespace dtnn::compiler
