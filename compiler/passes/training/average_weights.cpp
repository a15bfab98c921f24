#include "compiler/passes/training/average_weights.hpp"

#include "compiler/passes/read_averages.hpp"
#include "compiler/passes/shared/optimizer_graph.hpp"

namespace dtnn::compiler {

Parameter average_of(const Parameter& parameter) {
    Parameter average = state_beside(parameter, "average", plan::ParameterKind::average);
    average.initializer = parameter.initializer;
    return average;
}

std::optional<Graph> average_weights(const Graph& graph, PassContext& context) {
    if (!(context.training.average_decay > 0)) return std::nullopt;
    std::vector<Update> averaged;  // of the old graph
    for (const Update& update : graph.updates) {
        const Value& state = graph.value(update.state);
        if (graph.parameter(state.parameter).trainable) averaged.push_back(update);
    }
    if (averaged.empty() ||
        has_parameter(graph,
                      average_of(graph.parameter(graph.value(averaged[0].state).parameter)).name))
        return std::nullopt;
    Rewriter r(graph);
    for (const Node& node : graph.nodes)
        r.copy(node);
    std::vector<Update> updates;
    for (const Update& update : averaged) {
        const Parameter& parameter = graph.parameter(graph.value(update.state).parameter);
        const ValueId average = r.add_parameter(average_of(parameter), graph.type(update.state));
        Node node;
        node.op = "moving_average";
        node.inputs = {average, r.map(update.value)};
        node.attributes = {{"decay", context.training.average_decay}};
        node.phase = Phase::update;
        node.place = parameter.place;
        updates.push_back({average, emit(r, std::move(node), parameter.name + ".new_average")[0]});
    }
    Graph result = r.take();
    result.updates.insert(result.updates.end(), updates.begin(), updates.end());
    return result;
}

}  // namespace dtnn::compiler
