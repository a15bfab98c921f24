#include "compiler/passes/fusion/fuse_convolution_activation.hpp"

#include <unordered_map>
#include <unordered_set>

#include "compiler/ops/define.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/ops/expression/expression.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {
namespace {

/// The convolution that can take the activation; null: none.
const Node* convolution_before(const Graph& graph, const Uses& uses, const Node& activation) {
    if (activation.inputs.size() != 1 || activation.outputs.size() != 1) return nullptr;
    const std::string text = expression_of(activation);
    if (text.empty() || depth(parse_postfix(text)) > kMaximumFusedDepth) return nullptr;
    const Node* before = producer(graph, activation.inputs[0]);
    const bool takes =
        before && op(before->op).takes_expression && !has_epilogue(*before) &&
        !flag(before->attributes, "residual") && !flag(before->attributes, "statistics") &&
        before->phase == activation.phase && uses.only_reader(before->outputs[0]) == &activation;
    return takes ? before : nullptr;
}

}  // namespace

std::optional<Graph> fuse_convolution_activation(const Graph& graph, PassContext& context) {
    if (context.device != "cpu") return std::nullopt;
    const Uses uses(graph);
    std::unordered_map<const Node*, const Node*> convolutions;
    std::unordered_set<const Node*> gone;
    for (const Node& node : graph.nodes)
        if (const Node* convolution = convolution_before(graph, uses, node)) {
            convolutions[&node] = convolution;
            gone.insert(convolution);
        }
    if (convolutions.empty()) return std::nullopt;
    Rewriter r(graph);
    for (const Node& node : graph.nodes) {
        if (gone.contains(&node)) continue;
        const auto found = convolutions.find(&node);
        if (found == convolutions.end()) {
            r.copy(node);
            continue;
        }
        Node fused = r.mapped(*found->second);
        fused.attributes["epilogue"] = std::string("expression");
        fused.attributes["expression"] = expression_of(node);
        r.replace(node.outputs[0], emit(r, std::move(fused), graph.value(node.outputs[0]).name)[0]);
    }
    return r.take();
}

}  // namespace dtnn::compiler
