#include "compiler/passes/fusion/fuse_batch_statistics.hpp"

#include <algorithm>

#include "compiler/ops/define.hpp"
#include "compiler/passes/shared/batch_norm_patterns.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {
namespace {

bool wants_statistics(const Node& norm, ValueId of) {
    return norm.op == kTraining && norm.inputs[0] == of && !flag(norm.attributes, "statistics");
}

bool gives_statistics(const Graph& graph, const Uses& uses, const Node& conv) {
    if (conv.op != kConvolution || has_epilogue(conv) || flag(conv.attributes, "residual") ||
        flag(conv.attributes, "statistics"))
        return false;
    for (const NodeId reader : uses.readers(conv.outputs[0]))
        if (wants_statistics(graph.node(reader), conv.outputs[0])) return true;
    return false;
}

}  // namespace

std::optional<Graph> fuse_batch_statistics(const Graph& graph, PassContext&) {
    const Uses uses(graph);
    if (std::none_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const Node& node) { return gives_statistics(graph, uses, node); }))
        return std::nullopt;
    Rewriter r(graph);
    std::vector<ValueId> statistics(graph.values.size());  // new values, by old source
    for (const Node& node : graph.nodes) {
        if (gives_statistics(graph, uses, node)) {
            Node conv = r.mapped(node);
            conv.attributes["statistics"] = true;
            const auto results = emit(r, std::move(conv), graph.value(node.outputs[0]).name);
            r.replace(node.outputs[0], results[0]);
            statistics[node.outputs[0].index()] = results[1];
        } else if (node.op == kTraining && wants_statistics(node, node.inputs[0]) &&
                   statistics[node.inputs[0].index()].valid()) {
            Node norm = r.mapped(node);
            norm.attributes["statistics"] = true;
            norm.inputs.insert(norm.inputs.begin() + 5, statistics[node.inputs[0].index()]);
            const auto results = emit(r, std::move(norm), graph.value(node.outputs[0]).name);
            for (std::size_t i = 0; i < results.size(); ++i)
                r.replace(node.outputs[i], results[i], true);
        } else {
            r.copy(node);
        }
    }
    return r.take();
}

}  // namespace dtnn::compiler
