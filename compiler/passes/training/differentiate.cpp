#include <algorithm>
#include <utility>

#include "compiler/ops/op.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/optimizer_graph.hpp"
#include "compiler/passes/shared/rewriting.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

class Differentiator;

/// The view that the rule of one forward node has. The node is held by value: emitting moves the
/// nodes.
class Context final : public GradientContext {
  public:
    Context(Differentiator& all, const Node& node) : all_(all), node_(node) {}

    const Graph& graph() const override;
    const Node& node() const override { return node_; }
    ValueId input(std::size_t i) const override { return node_.inputs[i]; }
    ValueId output(std::size_t i) const override { return node_.outputs[i]; }
    ValueId diff(std::size_t i) const override;
    bool wants(std::size_t i) const override;
    ValueList emit(std::string_view op, ValueList inputs, Attributes attributes,
                   const std::string& name) override;
    void set(std::size_t input, ValueId gradient) override;

  private:
    Differentiator& all_;
    Node node_;
};

/// Works on the new graph from the start: forward nodes are copied first, so that ids of forward
/// and backward values live in one space.
class Differentiator {
  public:
    Differentiator(const Graph& graph, const PassContext& context)
        : r_(graph), context_(context), weighs_(shares_update(context)) {
        // A layer has a backward node per operand that gets a gradient, mostly two.
        r_.graph().nodes.reserve(3 * graph.nodes.size());
        r_.graph().values.reserve(3 * graph.values.size());
        for (const Node& node : graph.nodes)
            r_.copy(node);
        forward_values_ = r_.graph().values.size();
        wanted_.resize(forward_values_);
        gradients_.resize(forward_values_);
        mark_wanted();
    }

    Graph run(ValueId old_loss) {
        const ValueId loss = r_.map(old_loss);
        loss_ = loss;
        const std::size_t forward_nodes = r_.graph().nodes.size();
        for (std::size_t n = forward_nodes; n-- > 0;) {
            const Node node = r_.graph().nodes[n];
            bool reached = false;
            for (const ValueId output : node.outputs) {
                add_up(output, node);
                reached = reached || output == loss || !gradients_[output.index()].empty();
            }
            bool any_wanted = false;
            for (const ValueId input : node.inputs)
                any_wanted = any_wanted || wanted_[input.index()];
            if (!reached || !any_wanted) continue;
            const OpDef& def = op(node.op);
            DTNN_CHECK(def.gradient != nullptr, "`{}` has no gradient: {}", node.op,
                       def.no_gradient_reason);
            Context context(*this, node);
            def.gradient(context);
        }
        return finish();
    }

    Rewriter& rewriter() { return r_; }
    const Graph& graph() { return r_.graph(); }
    bool wants(ValueId value) const { return wanted_[value.index()]; }
    /// The gradients that the node's rule gives are where backward begins.
    bool begins(const Node& node) const {
        return std::find(node.outputs.begin(), node.outputs.end(), loss_) != node.outputs.end();
    }
    /// The factors of gradients where backward begins.
    ValueList factors(DType dtype) {
        ValueList all;
        if (weighs_) all.push_back(share(dtype));
        if (scales_loss(context_)) all.push_back(loss_scale(r_, context_));
        return all;
    }
    /// The batch's share of an update, by samples or by the weights of their labels.
    ValueId share(DType dtype) {
        if (share_.valid()) return share_;
        share_ = input_of(r_, plan::InputRole::batch_weight, {dtype, {}, {}});
        const ValueId loss_weight = find_output(r_.old(), kLossWeight);
        if (!loss_weight.valid()) return share_;
        const Node* weights = producer(r_.old(), loss_weight);
        Node node;
        node.op = "label_share";
        node.inputs = {r_.map(weights->inputs[0]), share_};
        node.attributes = weights->attributes;
        share_ = emit(r_, std::move(node), kBatchShare)[0];
        by_labels_ = true;
        return share_;
    }

    ValueId gradient_of(ValueId value) const {
        const auto& parts = gradients_[value.index()];
        return parts.empty() ? ValueId() : parts.front();
    }
    void contribute(ValueId value, ValueId gradient) {
        if (wants(value)) gradients_[value.index()].push_back(gradient);
    }

  private:
    /// A value is wanted when a trainable parameter can be reached from it backwards.
    void mark_wanted() {
        const Graph& graph = r_.graph();
        for (const Parameter& parameter : graph.parameters)
            if (parameter.trainable) wanted_[parameter.value.index()] = true;
        for (const Node& node : graph.nodes) {
            bool any = false;
            for (const ValueId input : node.inputs)
                any = any || wanted_[input.index()];
            // Integers (labels, indices) and what batch norm only counts along carry no gradient.
            for (const ValueId output : node.outputs) {
                const DType dtype = graph.type(output).dtype;
                wanted_[output.index()] = any && (dtype == DType::f32 || dtype == DType::f64);
            }
        }
    }

    /// Leaves at most one gradient of the value. The sum belongs to the layer of `origin`.
    void add_up(ValueId value, const Node& origin) {
        auto& parts = gradients_[value.index()];
        if (parts.size() < 2) return;
        Node sum;
        sum.op = "add";
        sum.inputs = parts;
        sum.phase = Phase::backward;
        sum.layer = origin.layer;
        sum.place = origin.place;
        const std::string name = r_.graph().value(value).name + ".diff";
        parts = {emit(r_, std::move(sum), name)[0]};
    }

    Graph finish() {
        std::vector<GraphOutput> gradients;
        const ParameterTable parameters = r_.graph().parameters;
        for (const Parameter& parameter : parameters) {
            if (!parameter.trainable) continue;
            Node origin;
            origin.layer = parameter.layer;
            origin.place = parameter.place;
            add_up(parameter.value, origin);
            const ValueId gradient = gradient_of(parameter.value);
            if (gradient.valid()) gradients.push_back({gradient_output(parameter.name), gradient});
        }
        if (by_labels_ && !gradients.empty()) gradients.push_back({kBatchShare, share_});
        Graph result = r_.take();
        result.outputs.insert(result.outputs.end(), gradients.begin(), gradients.end());
        return result;
    }

    Rewriter r_;
    const PassContext& context_;
    bool weighs_;
    ValueId loss_;
    ValueId share_;           ///< invalid: not asked for yet
    bool by_labels_ = false;  ///< share_ is one of the labels' weights
    std::size_t forward_values_ = 0;
    std::vector<bool> wanted_;          // by forward value
    std::vector<ValueList> gradients_;  // by forward value, in order of arrival
};

const Graph& Context::graph() const {
    return all_.graph();
}

ValueId Context::diff(std::size_t i) const {
    return all_.gradient_of(node_.outputs[i]);
}

bool Context::wants(std::size_t i) const {
    return all_.wants(node_.inputs[i]);
}

ValueList Context::emit(std::string_view op_name, ValueList inputs, Attributes attributes,
                        const std::string& name) {
    Node node;
    node.op = op_name;
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    node.phase = Phase::backward;
    node.layer = node_.layer;
    node.place = node_.place;
    // "conv2d_1.diff_weights", "conv2d_1.diff_bias"
    const std::string base = all_.graph().value(node_.outputs[0]).name;
    return compiler::emit(all_.rewriter(), std::move(node), base + "." + name, base);
}

void Context::set(std::size_t input, ValueId gradient) {
    if (all_.begins(node_))
        for (const ValueId factor : all_.factors(all_.graph().type(gradient).dtype))
            gradient = emit("weigh_gradient", {gradient, factor}, {}, "weighted_diff")[0];
    all_.contribute(node_.inputs[input], gradient);
}

}  // namespace

/// Reverse-mode differentiation of the output "loss".
///
///     %d = dense(%x, @w)        %d = dense(%x, @w)
///     %loss = f(%d)        ->   %loss = f(%d)
///     return %loss              %d.diff = f_backward(...)  ; backward
///                               %d.diff_weights = dense_backward_weights(%x, %d.diff)  ; backward
///                               return %loss, "gradient of w"=%d.diff_weights
///
/// Nodes are visited from the last to the first; the rule of each operator (ops/) emits its
/// backward nodes, which take phase backward and the layer and place of their forward node. A value
/// that several nodes read has the sum of their gradients, one `add` over all of them. Gradients
/// are made only where a trainable parameter is reachable. attach_update consumes the outputs
/// "gradient of NAME".
///
/// Where an update takes several batches, of ranks or accumulated, backward begins with the loss's
/// gradient times the input batch_weight (one number: the batch's share of the samples of an
/// update), so that every gradient of parameters is weighted: backward is linear in it, and it is
/// the smallest gradient of all.
///     %loss.diff_predictions = ...
///     %loss.weighted_diff = weigh_gradient(%loss.diff_predictions, %batch_weight)  ; backward
///
/// Where labels have weights, the loss is a mean by these, and so must be the batch's share, whose
/// sum over all batches is known last: backward begins with label_share(%labels, %batch_weight),
/// which is the output kBatchShare too, and clip_gradients divides by the sum of all batches'.
///
/// After specialise_phase (abstract operators have no gradient) and before every fusion. Must not
/// fire twice, nor without a loss.
std::optional<Graph> differentiate(const Graph& graph, PassContext& context) {
    const ValueId loss = find_output(graph, "loss");
    bool done = !loss.valid();
    for (const Node& node : graph.nodes)
        done = done || node.phase == Phase::backward;
    if (done) return std::nullopt;
    return Differentiator(graph, context).run(loss);
}

}  // namespace dtnn::compiler
