/// A plan's layer table as the graph that it was written of. (Its resolved spec is for people: what
/// formulas have learned has no form there.)

#include <algorithm>
#include <map>

#include "compiler/onnx/out/export.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/ops/shared_form.hpp"
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
    /// A parameter and the layer that has it as its own.
    struct Found {
        const plan::Layer* owner;
        const plan::Parameter* parameter;  ///< null: there is none
    };

    /// The layer that this one shares with; null: none.
    const plan::Layer* shared_with(const plan::Layer& layer) const {
        const auto share = layer.attributes.find(plan::kShare);
        if (share == layer.attributes.end()) return nullptr;
        const auto named = layers_.find(std::get<std::string>(share->second));
        return named == layers_.end() ? nullptr : named->second;
    }

    Found find(const plan::Layer& layer, const std::string& role) {
        for (const plan::Layer* at = &layer; at; at = shared_with(*at))
            for (const plan::Parameter* parameter : parameters_[at->index])
                if (parameter->role == role) return {at, parameter};
        return {&layer, nullptr};
    }

    /// Those that no rule of the operator declares, all of one layer.
    std::vector<Found> of_formula(const plan::Layer& layer) {
        const auto& rules = op(layer.type).parameters;
        for (const plan::Layer* at = &layer; at; at = shared_with(*at)) {
            std::vector<Found> all;
            for (const plan::Parameter* parameter : parameters_[at->index])
                if (std::none_of(rules.begin(), rules.end(), [&](const ParameterRule& rule) {
                        return rule.role == parameter->role;
                    }))
                    all.push_back({at, parameter});
            if (!all.empty()) return all;
        }
        return {};
    }

    void add(const plan::Layer& layer) {
        layers_[layer.name] = &layer;
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
        const auto take = [&](const Found& found, Type type) {
            const plan::Parameter& from = *found.parameter;
            if (found.owner != &layer && shared_form(def, type.dims, op(found.owner->type),
                                                     from.dims) == SharedForm::transposed) {
                node.attributes[kTransposed] = true;
                type.dims = from.dims;
            }
            types.push_back(type);
            ValueId& value = taken_[&from];
            if (!value.valid()) {
                Parameter parameter;
                parameter.name = from.name;
                parameter.dims = from.dims;
                value = graph_.add_parameter(std::move(parameter), std::move(type));
            }
            node.inputs.push_back(value);
        };
        for (const ParameterRule& rule : def.parameters) {
            if (rule.dims(input, layer.attributes).empty()) continue;
            if (const Found found = find(layer, rule.role); found.parameter)
                take(found, rule.type(input, layer.attributes, plan_.target.dtype));
        }
        // Those of formulas, in the order of the formula.
        for (const Found& found : of_formula(layer))
            take(found, {found.parameter->dtype, found.parameter->dims, {}, {}});
        node.attributes.erase(plan::kShare);
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
    std::map<std::string, const plan::Layer*> layers_;               ///< those before, by name
    std::map<const plan::Parameter*, ValueId> taken_;
    Graph graph_;
};

}  // namespace

Graph graph_of(const plan::Plan& plan) {
    return PlanGraph(plan).build();
}

}  // namespace dtnn::compiler::onnx
