#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/op.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/optimizer_graph.hpp"
#include "compiler/passes/shared/rewriting.hpp"
#include "compiler/support/check.hpp"
#include "plan/rules/named_operators.hpp"

namespace dtnn::compiler {
namespace {

class Continuation final : private StepContext {
  public:
    Continuation(const Graph& graph, PassContext& context)
        : graph_(graph), context_(context), r_(graph), over_steps_(graph.values.size()) {}

    /// Nothing where the graph is of one step, and where an operator needs all, which the context
    /// then says.
    std::optional<Graph> run() {
        for (const ValueId input : graph_.inputs)
            if (graph_.value(input).role != plan::InputRole::feature) return std::nullopt;
        take_inputs();
        for (const Node& node : graph_.nodes) {
            const bool steps = std::any_of(node.inputs.begin(), node.inputs.end(),
                                           [&](ValueId id) { return over_steps_[id.index()]; });
            if (!steps) {
                r_.copy(node);
                continue;
            }
            take(node);
            if (context_.needs_all_steps) return std::nullopt;
            for (const ValueId output : node.outputs)
                over_steps_[output.index()] = has_steps(graph_.type(output));
        }
        Graph result = r_.take();
        result.updates.insert(result.updates.end(), updates_.begin(), updates_.end());
        return result;
    }

  private:
    bool has_steps(const Type& type) const {
        return type.axes.size() > 1 && type.axes[1] == AxisKind::step && type.dims[1] == steps_;
    }

    /// A list of integers becomes one of its next steps.
    void take_inputs() {
        for (const ValueId input : graph_.inputs) {
            Type type = graph_.type(input);
            if (type.dims.size() != 2) continue;
            steps_ = type.dims[1];
            over_steps_[input.index()] = true;
            type.dims[1] = context_.steps;
            type.axes = {AxisKind::batch, AxisKind::step};
            r_.graph().set_type(r_.map(input), type);
        }
    }

    void take(const Node& node) {
        const OpDef& def = op(node.op);
        node_ = &node;
        if (def.same_step && def.same_step(node)) {
            const Name name = graph_.value(node.outputs[0]).name;
            r_.replace(node.outputs[0], dtnn::compiler::emit(r_, r_.mapped(node), name)[0]);
        } else if (def.next_step) {
            def.next_step(*this);
        } else {
            refuse("it takes all steps of a text at once, those behind the last, too",
                   "text is generated step by step, by layers that look back");
        }
    }

    // What a rule sees.
    const Graph& graph() const override { return graph_; }
    std::int64_t steps() const override { return context_.steps; }
    const Node& node() const override { return *node_; }
    ValueId input(std::size_t i) const override { return r_.map(node_->inputs[i]); }
    const Type& whole(std::size_t i) const override { return graph_.type(node_->inputs[i]); }
    ValueId step() override {
        return input_of(r_, plan::InputRole::text_step, {DType::i64, {}, {}});
    }
    ValueId kept(const std::string& name, const Type& type) override {
        return r_.graph().add_input(
            fmt::format("{}.{}", graph_.value(node_->outputs[0]).name, name), type,
            plan::InputRole::kept_steps);
    }
    /// By a copy where the value's own node does not write it over what was kept.
    void keep(ValueId kept, ValueId next) override {
        const Node& made = *producer(r_.graph(), next);
        const auto pairs = in_place_of(made);
        const bool over = std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
            return made.outputs[std::size_t(pair.first)] == next &&
                   made.inputs[std::size_t(pair.second)] == kept;
        });
        if (!over) next = emit(plan::kCopy, {next}, plan::copy_attributes(), "next")[0];
        updates_.push_back({kept, next});
    }
    ValueList emit(std::string_view op, ValueList inputs, Attributes attributes,
                   const std::string& name) override {
        Node made;
        made.op = op;
        made.inputs = std::move(inputs);
        made.attributes = std::move(attributes);
        made.phase = node_->phase;
        made.layer = node_->layer;
        made.place = node_->place;
        return dtnn::compiler::emit(
            r_, std::move(made), fmt::format("{}.{}", graph_.value(node_->outputs[0]).name, name));
    }
    void set(ValueId result) override { r_.replace(node_->outputs[0], result, true); }
    void refuse(std::string fact, std::string help) override {
        if (context_.needs_all_steps) return;
        context_.needs_all_steps = {node_->layer, node_->place, std::move(fact), std::move(help)};
    }

    const Graph& graph_;
    PassContext& context_;
    Rewriter r_;
    std::vector<bool> over_steps_;  // by old value: it has a place for each step of a text
    std::int64_t steps_ = 0;
    const Node* node_ = nullptr;  // whose rule is asked
    std::vector<Update> updates_;
};

}  // namespace

/// Makes of a graph over all steps of a text one of the step behind those that have come, or of
/// several of them, as where a prompt is read. What
/// layers want of these is kept in inputs that the graph overwrites.
///
///     %y = attention(%x), causal    ->    %k = keep_steps(%y.keys, %x, %text_step)    (as %y.keys)
///                                         %v = keep_steps(%y.values, %x, %text_step)  (as
///                                         %y.values) %q = slice(%x)   %y = attention(%q, %k, %v,
///                                         %text_step)
///     %h = lstm_steps(%x, @w)       ->    its formulas, of %x and of the state that was kept
///     all of one step (dense, ...)  ->    the same of one step
///
/// After specialise_phase, for operators in their general forms. An operator that needs steps to
/// come is told of in the context, and the graph stays.
std::optional<Graph> continue_steps(const Graph& graph, PassContext& context) {
    return Continuation(graph, context).run();
}

}  // namespace dtnn::compiler
