/// A plan's layer table as the graph that it was written of. (Its resolved spec is for people: what
/// formulas have learned has no form there.)

#include <map>

#include "compiler/onnx/out/export.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler::onnx {
namespace {

class PlanGraph {
  public:
    explicit PlanGraph(const plan::Plan& plan) : plan_(plan) {
        for (const plan::Parameter& parameter : plan.parameters)
            if (!parameter.optimizer_state && parameter.layer >= 0)
                parameters_[parameter.layer].push_back(&parameter);
    }

    Graph build() {
        graph_.name = plan_.model;
        for (const plan::Feature& feature : plan_.dataset.inputs) {
            const bool integers = feature.dtype == DType::i32;
            Type type{integers ? DType::i32 : plan_.target.dtype, {1}, {}, {AxisKind::batch}};
            type.dims.insert(type.dims.end(), feature.dims.begin(), feature.dims.end());
            type.axes.insert(type.axes.end(), feature.axes.begin(), feature.axes.end());
            const bool only = feature.name.empty();
            values_[only ? "input" : feature.name] =
                graph_.add_input(only ? "source" : feature.name, std::move(type));
        }
        for (const plan::Layer& layer : plan_.layers)
            add(layer);
        graph_.outputs.push_back({"predictions", values_.at(plan_.layers.back().name)});
        return std::move(graph_);
    }

  private:
    void add(const plan::Layer& layer) {
        const OpDef& def = op(layer.type);
        Node node;
        node.op = layer.type;
        node.attributes = layer.attributes;
        if (def.takes_integers())
            node.attributes["dtype"] = std::string(name_of(plan_.target.dtype));
        std::vector<Type> types;
        for (const std::string& from : layer.from) {
            node.inputs.push_back(values_.at(from));
            types.push_back(graph_.type(node.inputs.back()));
        }
        const Type input = types.front();
        const auto take = [&](const plan::Parameter& from, Type type) {
            Parameter parameter;
            parameter.name = from.name;
            parameter.dims = from.dims;
            types.push_back(type);
            node.inputs.push_back(graph_.add_parameter(std::move(parameter), std::move(type)));
        };
        std::vector<const plan::Parameter*> own = parameters_[layer.index];
        for (const ParameterRule& rule : def.parameters)
            for (const plan::Parameter*& parameter : own)
                if (parameter && parameter->role == rule.role) {
                    take(*parameter, rule.type(input, layer.attributes, plan_.target.dtype));
                    parameter = nullptr;
                }
        // Those of formulas, in the order of the formula.
        for (const plan::Parameter* parameter : own)
            if (parameter) take(*parameter, {parameter->dtype, parameter->dims, {}, {}});
        std::vector<Type> results;
        const auto error = infer(def, types, node.attributes, results);
        DTNN_CHECK(!error, "{}: {}", layer.name, error->text);
        const std::string name = is_reserved_input(layer.name) ? layer.name + ".dst" : layer.name;
        const NodeId id = graph_.add_node(std::move(node), results, name);
        values_[layer.name] = graph_.node(id).outputs[0];
    }

    const plan::Plan& plan_;
    std::map<int, std::vector<const plan::Parameter*>> parameters_;  ///< by layer
    std::map<std::string, ValueId> values_;                          ///< by layer or input
    Graph graph_;
};

}  // namespace

Graph graph_of(const plan::Plan& plan) {
    return PlanGraph(plan).build();
}

}  // namespace dtnn::compiler::onnx
