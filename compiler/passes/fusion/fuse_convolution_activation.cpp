#include "compiler/passes/fusion/fuse_convolution_activation.hpp"

#include "base/expression/expression.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/passes/shared/fusions.hpp"
#include "plan/devices.hpp"

namespace dtnn::compiler {

std::optional<Graph> fuse_convolution_activation(const Graph& graph, PassContext& context) {
    if (!plan::traits_of(context.device).expression_epilogues) return std::nullopt;
    Fusions fusions(graph);
    for (const Node& activation : graph.nodes) {
        if (activation.inputs.size() != 1 || activation.outputs.size() != 1) continue;
        const Node* before = fusions.alone_before(activation, 0);
        if (!before || !op(before->op).multiplies || !takes(*before, Epilogue::expression) ||
            before->phase != activation.phase)
            continue;
        const std::string text = expression_of(activation);
        if (text.empty() || depth(parse_postfix(text)) > kMaximumFusedDepth) continue;
        Fusion fused = Fusions::with(*before, activation);
        write_expression(fused.node, text);
        fusions.add(std::move(fused));
    }
    return fusions.write();
}

}  // namespace dtnn::compiler
