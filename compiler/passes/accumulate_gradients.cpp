#include "compiler/passes/accumulate_gradients.hpp"

#include "compiler/passes/differentiate.hpp"
#include "compiler/passes/optimizer_graph.hpp"

namespace dtnn::compiler {
namespace {

constexpr const char* kRole = "gradient_sum";

}  // namespace

std::optional<Graph> accumulate_gradients(const Graph& graph, PassContext& context) {
    if (context.training.accumulation < 2) return std::nullopt;
    Rewriter r(graph);
    for (const Node& node : graph.nodes)
        r.copy(node);
    std::vector<GraphOutput> outputs;
    const std::vector<Gradient> gradients = gradients_of(r, outputs);
    if (gradients.empty() || has_parameter(graph, gradients[0].parameter.name + "." + kRole))
        return std::nullopt;
    std::vector<Update> updates;
    for (const auto& [parameter, gradient] : gradients) {
        const Type type = r.graph().type(parameter.value);
        const ValueId weight = input_named(r, "batch_weight", {type.dtype, {}, {}});
        const ValueId sum = r.add_parameter(
            state_beside(parameter, kRole, plan::ParameterKind::gradient_sum), type);
        Node node;
        node.op = context.accumulate ? "accumulate_gradient" : "take_gradient_sum";
        node.inputs = {sum, gradient, weight};
        node.phase = Phase::update;
        node.place = parameter.place;
        const ValueList results = emit(r, std::move(node), parameter.name + ".new_gradient_sum",
                                       parameter.name + ".gradient");
        updates.push_back({sum, results[0]});
        if (!context.accumulate) outputs.push_back({gradient_output(parameter.name), results[1]});
    }
    Graph result = r.take();
    result.outputs = std::move(outputs);
    result.updates.insert(result.updates.end(), updates.begin(), updates.end());
    return result;
}

}  // namespace dtnn::compiler
