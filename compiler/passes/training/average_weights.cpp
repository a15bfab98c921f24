#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/optimizer_graph.hpp"

namespace dtnn::compiler {

/// With average_decay, keeps a moving average of every trainable parameter, which begins as the
/// parameter does:
///
///     update @w = %n   ->   %a = moving_average(@w.average, %n) {decay=0.999}
///                           update @w = %n
///                           update @w.average = %a
///
/// After attach_update. Must not fire where no parameter is updated (context.accumulate).
std::optional<Graph> average_weights(const Graph& graph, PassContext& context) {
    if (!(context.training.average_decay > 0)) return std::nullopt;
    std::vector<Update> averaged;  // of the old graph
    for (const Update& update : graph.updates) {
        const Value& state = graph.value(update.state);
        if (state.kind == ValueKind::parameter && graph.parameter(state.parameter).trainable)
            averaged.push_back(update);
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
