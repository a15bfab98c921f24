#include <unordered_map>

#include "compiler/ops/define.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/batch_norm_operators.hpp"
#include "compiler/passes/shared/fusions.hpp"
#include "plan/devices.hpp"

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

/// Lets a convolution sum its result and the squares while they are in registers, so that the batch
/// norm after it reads its source once instead of twice.
///
///     %c = conv2d(%x, @w)                          ->  %c, %s = conv2d(%x, @w) {statistics=true}
///     %y, ... = batch_norm_training(%c, @g, ...)       %y, ... = batch_norm_training(%c, @g, ...,
///                                                                            %s) {statistics=true}
///
/// After differentiate; before the fusions of batch norm, which append operands behind the
/// statistics. Must not fire when the convolution has an epilogue or a residual, since then its
/// result is not what was summed. Other readers of %c do not matter. Nor must it where convolutions
/// sum in a pass of their own (DeviceTraits::sums_in_convolutions): batch norm saves a launch then.
std::optional<Graph> fuse_batch_statistics(const Graph& graph, PassContext& context) {
    if (!plan::traits_of(context.device).sums_in_convolutions) return std::nullopt;
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
