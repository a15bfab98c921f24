#include "compiler/passes/shared/rewriting.hpp"

#include "compiler/ops/define.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/ops/op.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {

Uses::Uses(const Graph& graph)
    : graph_(graph), readers_(graph.readers()), leaves_(graph.values.size()) {
    for (const GraphOutput& output : graph.outputs)
        leaves_[output.value.index()] = true;
    for (const Update& update : graph.updates)
        leaves_[update.value.index()] = true;
}

const Node* Uses::only_reader(ValueId value) const {
    const auto of = readers(value);
    return of.size() == 1 && !leaves(value) ? &graph_.node(of.front()) : nullptr;
}

ValueList emit(Rewriter& rewriter, Node node, const std::string& name, const std::string& prefix) {
    const OpDef& def = op(node.op);
    std::vector<Type> inputs, results;
    inputs.reserve(node.inputs.size());
    for (const ValueId id : node.inputs)
        inputs.push_back(rewriter.graph().type(id));
    const auto error = infer(def, inputs, node.attributes, results);
    DTNN_CHECK(!error, "emitting `{}` as `{}`: {}", node.op, name, error->text);
    std::vector<std::string> names{name};
    for (std::size_t i = 1; i < results.size() && i < def.outputs.size(); ++i) {
        std::string result = def.outputs[i];
        if (result.back() == '?') result.pop_back();
        names.push_back((prefix.empty() ? name : prefix) + "." + result);
    }
    const NodeId id = rewriter.add_node(std::move(node), results, name, names);
    return rewriter.graph().node(id).outputs;
}

std::optional<Graph> remove_unread(const Graph& graph, bool (*removable)(const Node&)) {
    std::vector<bool> live(graph.values.size());
    for (const GraphOutput& output : graph.outputs)
        live[output.value.index()] = true;
    for (const Update& update : graph.updates)
        live[update.value.index()] = true;
    std::vector<bool> stays(graph.nodes.size());
    bool all_stay = true;
    for (std::size_t n = graph.nodes.size(); n-- > 0;) {
        const Node& node = graph.nodes[n];
        bool needed = !removable(node);
        for (const ValueId output : node.outputs)
            needed = needed || live[output.index()];
        all_stay = all_stay && needed;
        if (!needed) continue;
        stays[n] = true;
        for (const ValueId input : node.inputs)
            live[input.index()] = true;
    }
    if (all_stay) return std::nullopt;
    Rewriter rewriter(graph);
    for (std::size_t n = 0; n < graph.nodes.size(); ++n)
        if (stays[n]) rewriter.copy(graph.nodes[n]);
    return rewriter.take();
}

bool changes_parameters(const Graph& graph) {
    return std::any_of(graph.updates.begin(), graph.updates.end(), [&](const Update& update) {
        return graph.value(update.state).kind == ValueKind::parameter;
    });
}

ValueId find_output(const Graph& graph, std::string_view name) {
    for (const GraphOutput& output : graph.outputs)
        if (output.name == name) return output.value;
    return {};
}

bool is_sum(const Node& node) {
    return node.inputs.size() == 2 && expression_of(node) == "x0 x1 add";
}

bool is_relu(const Node& node) {
    return node.inputs.size() == 1 && expression_of(node) == "x0 0 max";
}

bool is_relu_backward(const Node& node) {
    return node.inputs.size() == 2 && expression_of(node) == "x1 0 gt x0 0 select";
}

}  // namespace dtnn::compiler
