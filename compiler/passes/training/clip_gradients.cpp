#include "compiler/passes/training/clip_gradients.hpp"

#include "compiler/passes/shared/optimizer_graph.hpp"
#include "compiler/passes/training/differentiate.hpp"
#include "plan/rules/named_operators.hpp"

namespace dtnn::compiler {

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
