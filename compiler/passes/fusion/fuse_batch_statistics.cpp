#include "compiler/passes/fusion/fuse_batch_statistics.hpp"

#include <unordered_map>

#include "compiler/ops/define.hpp"
#include "compiler/passes/shared/batch_norm_operators.hpp"
#include "compiler/passes/shared/fusions.hpp"

namespace dtnn::compiler {
namespace {

/// The node alone, with statistics: that it gives or that it reads.
Fusion with_statistics(const Node& node) {
    Fusion fusion{node, &node, {&node}, node.outputs};
    fusion.node.attributes["statistics"] = true;
    return fusion;
}

bool is_plain(const Node& node) {
    return !has_epilogue(node) && !flag(node.attributes, "statistics");
}

}  // namespace

std::optional<Graph> fuse_batch_statistics(const Graph& graph, PassContext&) {
    Fusions fusions(graph);
    std::unordered_map<const Node*, const Fusion*> convolutions;
    for (const Node& norm : graph.nodes) {
        if (norm.op != kTraining || !is_plain(norm)) continue;
        const Node* conv = producer(graph, norm.inputs[0]);
        if (!conv || conv->op != kConvolution || !is_plain(*conv)) continue;
        const Fusion*& giving = convolutions[conv];
        if (!giving) giving = fusions.add(with_statistics(*conv));
        Fusion reading = with_statistics(norm);
        reading.source = giving;
        fusions.add(std::move(reading));
    }
    return fusions.write();
}

}  // namespace dtnn::compiler
