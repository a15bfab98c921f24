#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "compiler/ops/define.hpp"
#include "compiler/ops/update/optimizer.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/optimizer_graph.hpp"
#include "compiler/support/check.hpp"
#include "plan/rules/parameter_groups.hpp"

namespace dtnn::compiler {
namespace {

struct State {
    const char* role;
    bool single = false;  ///< one number, not one for each weight
    plan::Initializer initializer = {};
};

/// An optimizer in the graph: its operator, the operator's attributes, its states.
struct Rule {
    const char* op;
    Attributes attributes;
    bool counts_updates = false;
    std::vector<State> states;
};

/// Weight decay, which every optimizer has, and the attributes `names`. Choices that are off are
/// left away.
Attributes chosen(const Attributes& all, std::initializer_list<const char*> names) {
    Attributes attributes = pick(all, names);
    for (const auto& common : pick(all, {"weight_decay", "decoupled_weight_decay"}))
        attributes.insert(common);
    for (const char* name :
         {"decoupled_weight_decay", "epsilon_inside_root", "centered", "amsgrad"})
        if (attributes.contains(name) && !flag(attributes, name)) attributes.erase(name);
    return attributes;
}

Rule sgd(const Attributes& a) {
    Rule rule{"sgd_update", chosen(a, {"momentum", "nesterov"}), false, {}};
    if (real_or_zero(a, "momentum") > 0) rule.states = {{"velocity"}};
    return rule;
}

Rule rmsprop(const Attributes& a) {
    Rule rule{"rmsprop_update",
              chosen(a, {"rho", "epsilon", "epsilon_inside_root", "centered", "momentum"}),
              false,
              {{"second_moment"}}};
    if (flag(a, "centered")) rule.states.push_back({"first_moment"});
    if (real_or_zero(a, "momentum") > 0) rule.states.push_back({"velocity"});
    return rule;
}

template <bool decoupled>
Rule adam(const Attributes& a) {
    Rule rule{"adam_update",
              chosen(a, {"beta1", "beta2", "epsilon", "epsilon_inside_root", "amsgrad"}),
              true,
              {{"first_moment"}, {"second_moment"}}};
    if (decoupled) rule.attributes["decoupled_weight_decay"] = true;
    if (flag(a, "amsgrad")) rule.states.push_back({"largest_moment"});
    return rule;
}

Rule nadam(const Attributes& a) {
    Rule rule{"nadam_update",
              chosen(a, {"beta1", "beta2", "epsilon", "epsilon_inside_root", "variant"}),
              true,
              {{"first_moment"}, {"second_moment"}}};
    if (!says(a, "variant", NadamVariant::pydtnn)) {
        for (const auto& momentum_decay : pick(a, {"momentum_decay"}))
            rule.attributes.insert(momentum_decay);
        rule.states.push_back({"momentum_product", true, {"ones"}});
    }
    return rule;
}

Rule adagrad(const Attributes& a) {
    Rule rule{"adagrad_update",
              chosen(a, {"epsilon", "epsilon_inside_root", "learning_rate_decay"}),
              true,
              {{"square_sum"}}};
    if (const double first = real_or_zero(a, "initial_accumulator"); first > 0) {
        rule.states[0].initializer.kind = "constant";
        rule.states[0].initializer.numbers = {{"value", first}};
    }
    return rule;
}

Rule lars(const Attributes& a) {
    return {"lars_update",
            chosen(a, {"momentum", "trust_coefficient", "epsilon", "adaptive"}),
            false,
            {{"velocity"}}};
}

Rule lamb(const Attributes& a) {
    return {"lamb_update",
            chosen(a, {"beta1", "beta2", "epsilon", "adaptive"}),
            true,
            {{"first_moment"}, {"second_moment"}}};
}

/// By the name of the optimizer (frontend/tables/optimizer_table.cpp has what each may be told).
constexpr std::pair<std::string_view, Rule (*)(const Attributes&)> kRules[] = {
    {"sgd", sgd},     {"rmsprop", rmsprop}, {"adam", adam<false>}, {"adamw", adam<true>},
    {"nadam", nadam}, {"adagrad", adagrad}, {"lars", lars},        {"lamb", lamb},
};

Rule rule_of(const std::string& optimizer, const Attributes& attributes) {
    const auto found = std::find_if(std::begin(kRules), std::end(kRules),
                                    [&](const auto& rule) { return rule.first == optimizer; });
    DTNN_CHECK(found != std::end(kRules), "no optimizer is named `{}`", optimizer);
    return found->second(attributes);
}

class Updater {
  public:
    Updater(const Graph& graph, const PassContext& context)
        : context_(context), training_(context.training), r_(graph) {
        for (const Node& node : graph.nodes)
            r_.copy(node);
    }

    std::optional<Graph> run() {
        std::vector<GraphOutput> outputs;
        const std::vector<Gradient> gradients = gradients_of(r_, outputs);
        if (gradients.empty()) return std::nullopt;
        std::erase_if(outputs, [&](const GraphOutput& output) {
            if (output.name == kGradientScale) scale_ = output.value;
            return output.name == kGradientScale;
        });
        for (const auto& [parameter, gradient] : gradients)
            update(parameter, gradient);
        if (scales_loss(context_) && !(training_.loss_scale > 0)) adapt_loss_scale();
        Graph result = r_.take();
        result.outputs = std::move(outputs);
        result.updates.insert(result.updates.end(), updates_.begin(), updates_.end());
        return result;
    }

  private:
    void update(const Parameter& weights, ValueId gradient) {
        const Attributes settings = optimizer_attributes_of(training_, weights.name);
        Rule rule = rule_of(training_.optimizer, settings);
        const Type type = r_.graph().type(weights.value);
        Node node;
        node.op = rule.op;
        node.attributes = std::move(rule.attributes);
        node.phase = Phase::update;
        node.place = weights.place;
        node.inputs = {weights.value, gradient,
                       input_of(r_, plan::InputRole::learning_rate, {type.dtype, {}, {}})};
        if (rule.counts_updates)
            node.inputs.push_back(input_of(r_, plan::InputRole::update, {DType::i64, {}, {}}));
        if (const double factor = learning_rate_scale_of(training_, weights.name); factor != 1)
            node.attributes["learning_rate_scale"] = factor;
        if (training_.clip_value > 0) node.attributes["clip_value"] = training_.clip_value;
        std::vector<ValueId> overwritten{weights.value};
        for (const State& state : rule.states)
            overwritten.push_back(add_state(weights, type, state));
        node.inputs.insert(node.inputs.end(), overwritten.begin() + 1, overwritten.end());
        if (scale_.valid()) {
            node.attributes["scaled"] = true;
            if (scales_loss(context_)) node.attributes["skips"] = true;
            node.inputs.push_back(scale_);
        }
        const auto results =
            emit(r_, std::move(node), weights.name + ".new", weights.name + ".new");
        for (std::size_t i = 0; i < overwritten.size(); ++i)
            updates_.push_back({overwritten[i], results[i]});
    }

    void adapt_loss_scale() {
        Node node;
        node.op = "adapt_loss_scale";
        node.attributes = {{"growth_interval", std::int64_t{2000}}};
        node.phase = Phase::update;
        const ValueId scale = loss_scale(r_, context_), count = loss_scale_updates(r_);
        node.inputs = {scale, count, scale_};
        const auto results = emit(r_, std::move(node), "loss_scale.new", "loss_scale.new");
        updates_.push_back({scale, results[0]});
        updates_.push_back({count, results[1]});
    }

    ValueId add_state(const Parameter& weights, const Type& type, const State& state) {
        Parameter parameter =
            state_beside(weights, state.role, plan::ParameterKind::optimizer_state);
        parameter.initializer = state.initializer;
        if (!state.single) return r_.add_parameter(std::move(parameter), type);
        parameter.dims = {1};
        parameter.single = true;
        return r_.add_parameter(std::move(parameter), {type.dtype, {1}, {}});
    }

    const PassContext& context_;
    const plan::Training& training_;
    Rewriter r_;
    ValueId scale_;  ///< of the gradients; invalid: one
    std::vector<Update> updates_;
};

}  // namespace

/// Turns gradients into updates of the parameters.
///
///     return "gradient of w"=%g   ->   %n, %v = sgd_update(@w, %g, %learning_rate, @w.velocity)
///                                      update @w = %n
///                                      update @w.velocity = %v
///
/// Adds the inputs learning_rate (one number of the graph's floating type) and, for optimizers
/// whose formula counts, update (i64: updates before this one), and the optimizer's state:
/// parameters "w.velocity", "w.first_moment" ... of the weights' shape. Fields of the optimizer are
/// those of the parameter's group where it has one. Clipping by value is an attribute of the
/// updates; the output gradient_scale (clip_gradients) becomes their last operand. The outputs
/// "gradient of NAME" are gone afterwards.
/// After differentiate, accumulate_gradients and clip_gradients. Must not fire on parameters
/// without a gradient, nor where the gradients are only added up (they are no outputs then).
std::optional<Graph> attach_update(const Graph& graph, PassContext& context) {
    return Updater(graph, context).run();
}

}  // namespace dtnn::compiler
