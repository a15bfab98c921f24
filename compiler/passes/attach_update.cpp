#include "compiler/passes/attach_update.hpp"

#include <unordered_map>

#include "compiler/ops/define.hpp"
#include "compiler/passes/differentiate.hpp"
#include "compiler/passes/rewriting.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

class Updater {
  public:
    Updater(const Graph& graph, const PassContext& context)
        : graph_(graph), training_(context.training), r_(graph) {
        for (const Node& node : graph.nodes)
            r_.copy(node);
    }

    std::optional<Graph> run() {
        std::unordered_map<std::string, ValueId> gradients;
        std::vector<GraphOutput> others;
        const std::string prefix = gradient_output("");
        for (const GraphOutput& output : graph_.outputs) {
            if (output.name.starts_with(prefix))
                gradients.emplace(output.name.substr(prefix.size()), r_.map(output.value));
            else
                others.push_back({output.name, r_.map(output.value)});
        }
        if (gradients.empty()) return std::nullopt;
        // By value: states join the list while it is walked.
        const ParameterTable parameters = r_.graph().parameters;
        for (const Parameter& parameter : parameters) {
            const auto found = gradients.find(parameter.name);
            if (found == gradients.end()) continue;
            if (training_.optimizer == "sgd")
                sgd(parameter, found->second);
            else if (training_.optimizer == "adam")
                adam(parameter, found->second);
            else
                DTNN_CHECK(false, "no optimizer is named `{}`", training_.optimizer);
        }
        Graph result = r_.take();
        result.outputs = std::move(others);
        result.updates.insert(result.updates.end(), updates_.begin(), updates_.end());
        return result;
    }

  private:
    void sgd(const Parameter& weights, ValueId gradient) {
        Node node = node_for("sgd_update", weights, {"momentum", "nesterov", "weight_decay"});
        node.inputs = {weights.value, gradient, learning_rate(weights)};
        const auto momentum = node.attributes.find("momentum");
        ValueList states;
        if (momentum != node.attributes.end() && std::get<double>(momentum->second) > 0)
            states = {state(weights, "velocity")};
        finish(std::move(node), weights, states);
    }

    void adam(const Parameter& weights, ValueId gradient) {
        Node node = node_for("adam_update", weights, {"beta1", "beta2", "epsilon", "weight_decay"});
        node.inputs = {weights.value, gradient, learning_rate(weights),
                       input("step", {DType::i64, {}, {}})};
        finish(std::move(node), weights,
               {state(weights, "first_moment"), state(weights, "second_moment")});
    }

    Node node_for(const char* op, const Parameter& weights,
                  std::initializer_list<const char*> attributes) const {
        Node node;
        node.op = op;
        node.attributes = pick(training_.optimizer_attributes, attributes);
        node.phase = Phase::update;
        node.place = weights.place;
        return node;
    }

    ValueId state(const Parameter& weights, const char* role) {
        Parameter parameter;
        parameter.name = weights.name + "." + role;
        parameter.role = role;
        parameter.optimizer_state = true;
        parameter.dims = weights.dims;
        parameter.layer = weights.layer;
        parameter.place = weights.place;
        const Type type = r_.graph().type(weights.value);
        return r_.add_parameter(std::move(parameter), type);
    }

    void finish(Node node, const Parameter& weights, const ValueList& states) {
        node.inputs.insert(node.inputs.end(), states.begin(), states.end());
        const auto results =
            emit(r_, std::move(node), weights.name + ".new", weights.name + ".new");
        updates_.push_back({weights.value, results[0]});
        for (std::size_t i = 0; i < states.size(); ++i)
            updates_.push_back({states[i], results[i + 1]});
    }

    ValueId learning_rate(const Parameter& weights) {
        const DType dtype = r_.graph().type(weights.value).dtype;
        return input("learning_rate", {dtype, {}, {}});
    }

    ValueId input(const char* name, Type type) {
        ValueId& known = inputs_[name];
        if (!known.valid()) {
            const ValueId old = find_input(graph_, name);
            known = old.valid() ? r_.map(old) : r_.add_input(name, std::move(type));
        }
        return known;
    }

    const Graph& graph_;
    const plan::Training& training_;
    Rewriter r_;
    std::unordered_map<std::string, ValueId> inputs_;
    std::vector<Update> updates_;
};

}  // namespace

std::optional<Graph> attach_update(const Graph& graph, PassContext& context) {
    return Updater(graph, context).run();
}

}  // namespace dtnn::compiler
