#include "compiler/ops/op.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/rewriting.hpp"
#include "compiler/passes/shared/target_scale.hpp"

namespace dtnn::compiler {

/// What programs that predict give is what metrics read:
///
///     return predictions=%p   ->   %restored = scale_classes(%p) {class_weights=..., offsets=...}
///                                  return predictions=%restored
///
/// Behind the model's last layer, so first in the pipeline. Must not fire where targets are taken
/// as they are.
std::optional<Graph> restore_targets(const Graph& graph, PassContext& context) {
    const ValueId predictions = find_output(graph, "predictions");
    if (context.target_deviation.empty() || !predictions.valid()) return std::nullopt;
    const Node* last = producer(graph, predictions);
    if (last != nullptr && last->attributes == target_scale(context)) return std::nullopt;
    Rewriter r(graph);
    for (const Node& node : graph.nodes)
        r.copy(node);
    Node restored;
    restored.op = "scale_classes";
    restored.inputs = {r.map(predictions)};
    restored.attributes = target_scale(context);
    const ValueId value = emit(r, std::move(restored), "restored_predictions")[0];
    Graph result = r.take();
    for (GraphOutput& output : result.outputs)
        if (output.name == "predictions") output.value = value;
    return result;
}

}  // namespace dtnn::compiler
