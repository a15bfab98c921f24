#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/optimizer_graph.hpp"
#include "plan/rules/named_operators.hpp"

namespace dtnn::compiler {

/// Works out the factor that all gradients are multiplied by. With clip_norm in two phases: the sum
/// of squares of each, then one number made of all the sums. Where labels have weights, gradients
/// are sums over batches by these (kBatchShare), and the factor divides by the sum of the shares.
///
///     return "gradient of w"=%g  ->  %s = gradient_square_sum(%g)        (of every gradient)
///                                    %f = gradient_scale(%s, ...) {clip_norm=1}
///                                    return "gradient of w"=%g, "gradient_scale"=%f
///
/// attach_update makes the factor an operand of the updates. Clipping by value is an attribute of
/// updates and needs no pass. After accumulate_gradients, because what is clipped is the gradient
/// of the update. Must not fire without clip_norm or shares, nor where no update follows
/// (context.accumulate).
std::optional<Graph> clip_gradients(const Graph& graph, PassContext& context) {
    const bool clips = context.training.clip_norm > 0,
               shared = find_output(graph, kBatchShare).valid(), scaled = scales_loss(context);
    if ((!clips && !shared && !scaled) || context.accumulate ||
        find_output(graph, kGradientScale).valid())
        return std::nullopt;
    Rewriter r(graph);
    for (const Node& node : graph.nodes)
        r.copy(node);
    std::vector<GraphOutput> outputs;
    const std::vector<Gradient> gradients = gradients_of(r, outputs);
    if (gradients.empty()) return std::nullopt;
    const DType dtype = r.graph().type(gradients[0].value).dtype;
    Node scale;
    scale.op = kGradientScale;
    scale.phase = Phase::update;
    scale.attributes = {{"dtype", std::string(plan::name_of(dtype))}};
    if (clips) scale.attributes["clip_norm"] = context.training.clip_norm;
    if (shared) scale.attributes["shared"] = true;
    if (scaled) scale.attributes["loss_scaled"] = true;
    for (const auto& [parameter, gradient] : gradients) {
        outputs.push_back({gradient_output(parameter.name), gradient});
        if (!clips && !scaled) continue;
        Node sum;
        sum.op = plan::kSquareSum;
        sum.inputs = {gradient};
        sum.phase = Phase::update;
        sum.layer = parameter.layer;
        sum.place = parameter.place;
        scale.inputs.push_back(emit(r, std::move(sum), parameter.name + ".gradient_square_sum")[0]);
    }
    std::erase_if(outputs, [&](const GraphOutput& output) {
        if (output.name == kBatchShare) scale.inputs.push_back(output.value);
        return output.name == kBatchShare;
    });
    if (scaled) scale.inputs.push_back(loss_scale(r, context));
    outputs.push_back({kGradientScale, emit(r, std::move(scale), kGradientScale)[0]});
    Graph result = r.take();
    result.outputs = std::move(outputs);
    return result;
}

}  // namespace dtnn::compiler
