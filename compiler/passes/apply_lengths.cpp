#include <fmt/format.h>

#include <algorithm>

#include "compiler/ops/op.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {
namespace {

class Lengths final : private LengthsContext {
  public:
    Lengths(const Graph& graph, PassContext& context)
        : graph_(graph), context_(context), r_(graph), padded_(graph.values.size()) {}

    /// Nothing where an operator cannot do without steps that samples do not have, which the
    /// context then says.
    std::optional<Graph> run() {
        for (const ValueId input : graph_.inputs) {
            padded_[input.index()] = has_steps(graph_.type(input));
            samples_ = graph_.type(input).dims[0];
        }
        lengths_ = r_.add_input(context_.lengths, {DType::i32, {samples_, 1}, {}, {}});
        for (const Node& node : graph_.nodes) {
            take(node);
            if (context_.mixes_steps) return std::nullopt;
        }
        return r_.take();
    }

  private:
    static bool has_steps(const Type& type) {
        return type.axes.size() > 1 && type.axes[1] == AxisKind::step;
    }

    void take(const Node& node) {
        node_ = &node;
        const OpDef& def = op(node.op);
        const bool any = std::any_of(node.inputs.begin(), node.inputs.end(),
                                     [&](ValueId id) { return padded_[id.index()]; });
        if (!any) {
            r_.copy(node);
        } else if (def.with_lengths) {
            def.with_lengths(*this);
        } else if (def.same_step && def.same_step(node)) {
            r_.copy(node);
            for (const ValueId output : node.outputs)
                padded_[output.index()] = has_steps(graph_.type(output));
        } else {
            refuse("it mixes the steps of a sample, and cannot tell which of them the sample has",
                   "`mean`, `last_step`, attention, convolutions and recurrent layers know the "
                   "samples' lengths; `flatten`, `reshape` and `transpose` take what is behind "
                   "them as zeros");
        }
    }

    // What a rule sees.
    const Graph& graph() const override { return graph_; }
    const Node& node() const override { return *node_; }
    ValueId input(std::size_t i) const override { return r_.map(node_->inputs[i]); }
    bool padded(std::size_t i) const override { return padded_[node_->inputs[i].index()]; }
    ValueId lengths() override { return lengths_; }
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
    void set(ValueId result, bool padded) override {
        const ValueId old = node_->outputs[0];
        padded_[old.index()] = padded && has_steps(graph_.type(old));
        r_.replace(old, result, true);
    }
    void refuse(std::string fact, std::string help) override {
        context_.mixes_steps = {node_->layer, node_->place, std::move(fact), std::move(help)};
    }

    const Graph& graph_;
    PassContext& context_;
    Rewriter r_;
    std::vector<bool> padded_;  // by old value: a sample does not have all of its steps
    std::int64_t samples_ = 0;
    ValueId lengths_;
    const Node* node_ = nullptr;  // whose rule is asked
};

}  // namespace

/// Tells the operators that mix steps how many of them a sample has, which the new input of the
/// name `context.lengths` says: i32 [N,1].
///
///     %a = attention(%x)             ->    %a = attention(%x, %lengths) {padded=true}
///     %m = mean(%x)                  ->    %x.mean = mask_steps(%x, %lengths) {form=mean}
///                                          %m = mean(%x.mean)
///     %l = last_step(%x)             ->    %r = mask_steps(%x, %lengths) {form=reversed}
///                                          %l = first_step(%r)
///     %y = lstm(%x, ...), reversed   ->    the same of the steps in their order round, forwards
///     %f = flatten(%x)               ->    %z = mask_steps(%x, %lengths) {form=zeros}
///                                          %f = flatten(%z)
///
/// What a layer makes of each step by itself stays; what it makes of those that a sample does not
/// have holds anything, and nobody reads it: labels of such steps do not count, and so the
/// gradients of what was made there are zeros. An operator that mixes steps and has no rule
/// (OpDef::with_lengths) is told of in the context, and the graph stays.
///
/// First, for layers as users wrote them: last_step is no slice yet, and what the loss makes of
/// steps are rows. Must not fire where all samples have all steps, nor for programs that generate,
/// whose texts are of one length.
std::optional<Graph> apply_lengths(const Graph& graph, PassContext& context) {
    if (context.lengths.empty()) return std::nullopt;
    for (const ValueId input : graph.inputs)
        if (graph.value(input).name.str() == context.lengths) return std::nullopt;
    return Lengths(graph, context).run();
}

}  // namespace dtnn::compiler
