#include "base/expression/expression.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/fusions.hpp"
#include "plan/devices.hpp"

namespace dtnn::compiler {

/// Moves an activation into the convolution before it, which works it out while its results are
/// still in the cache.
///
///     %c = conv2d(%x, @w)           %y = conv2d(%x, @w) {epilogue=expression,
///     %y = silu(%c)            ->                        expression="x0 x0 sigmoid mul"}
///
/// The activation is any elementwise operator, or a chain of them, of that one operand. Behind
/// fold_batch_norm and fuse_epilogues, which leave what they cannot have, and behind
/// fuse_elementwise, which makes one node of a chain. Must not fire when %c has another reader (in
/// training a backward that reads it), when the convolution has an epilogue, a residual or
/// statistics, and for devices, whose libraries know no expressions.
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
