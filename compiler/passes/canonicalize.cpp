#include <algorithm>

#include "compiler/ops/define.hpp"
#include "compiler/ops/emit.hpp"
#include "compiler/ops/loss/losses.hpp"
#include "compiler/ops/loss/over_logits.hpp"
#include "compiler/ops/op.hpp"
#include "compiler/ops/shared_form.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {
namespace {

/// The operators that this pass is about by definition: a dense layer takes the flatten before it
/// along, a pointwise loss the sigmoid.
constexpr const char* kDense = "dense";
constexpr const char* kPointwiseLoss = "elementwise_mean";

/// The result is operand 0, number by number.
bool does_nothing(const Graph& graph, const Node& node) {
    const OpDef& def = op(node.op);
    if (def.does_nothing && def.does_nothing(graph, node)) return true;
    if (!is_relu(node)) return false;
    const Node* before = producer(graph, node.inputs[0]);
    return before && is_relu(*before);
}

/// An image becomes a row of its numbers.
bool flattens(const Graph& graph, const Node& node) {
    return op(node.op).keeps_numbers && is_image(graph.type(node.inputs[0])) &&
           is_rows(graph.type(node.outputs[0]));
}

/// The image that a row was flattened from, or an invalid id.
ValueId flattened_image(const Graph& graph, ValueId row) {
    for (const Node* node = producer(graph, row); node && does_nothing(graph, *node);
         node = producer(graph, row))
        row = node->inputs[0];
    const Node* node = producer(graph, row);
    return node && flattens(graph, *node) ? node->inputs[0] : ValueId();
}

/// For each parameter value that becomes [C,H,W,units]: those extents; empty for the others.
std::vector<Dims> absorbed_weights(const Graph& graph, const Uses& uses) {
    std::vector<Dims> result(graph.values.size());
    std::vector<bool> updated(graph.values.size());
    for (const Update& update : graph.updates)
        updated[update.state.index()] = true;
    for (const Parameter& parameter : graph.parameters) {
        const Type& type = graph.type(parameter.value);
        if (uses.leaves(parameter.value) || updated[parameter.value.index()]) continue;
        Dims dims;
        for (const NodeId reader : uses.readers(parameter.value)) {
            const Node& node = graph.node(reader);
            const bool as_weights =
                node.op == kDense && node.inputs[1] == parameter.value &&
                !flag(node.attributes, kTransposed) &&
                std::count(node.inputs.begin(), node.inputs.end(), parameter.value) == 1;
            const ValueId image = as_weights ? flattened_image(graph, node.inputs[0]) : ValueId();
            Dims wanted;
            if (image.valid()) {
                const Dims& source = graph.type(image).dims;
                wanted = {source[1], source[2], source[3], type.dims.back()};
            }
            if (wanted.empty() || (!dims.empty() && dims != wanted)) {
                dims.clear();
                break;
            }
            dims = std::move(wanted);
        }
        result[parameter.value.index()] = std::move(dims);
    }
    return result;
}

/// The loss over rows that joins the softmax or log_softmax which it reads, or null.
const Node* loss_of_softmax(const Graph& graph, const Uses& uses, const Node& node) {
    const plan::Prediction gives = op(node.op).gives;
    const bool logarithm = gives == plan::Prediction::log_probabilities;
    const ValueId result = node.outputs[0];
    if (gives == plan::Prediction::scores || !is_rows(graph.type(result))) return nullptr;
    const Node* found = nullptr;
    for (const NodeId reader : uses.readers(result)) {
        const Node& loss = graph.node(reader);
        const LossInfo* info = find_loss(loss.op);
        // The fused node stands where the softmax stood, so the labels must be there by then, each
        // of them a row's.
        if (info && info->joins == node.op && info->takes_labels(plan::LabelKind::classes) &&
            loss.phase != Phase::metric && loss.inputs[0] == result &&
            graph.value(loss.inputs[1]).kind == ValueKind::input)
            found = found ? found : &loss;
        else if (logarithm && !op(loss.op).reads_order_only)
            return nullptr;
    }
    // The fused node gives probabilities: of their logarithms they tell only which is the largest.
    return logarithm && uses.leaves(result) ? nullptr : found;
}

/// Binary cross-entropy of a sigmoid, over what the sigmoid reads; nothing for other nodes.
std::optional<Node> loss_of_sigmoid(const Graph& graph, const Node& node) {
    if (node.op != kPointwiseLoss) return std::nullopt;
    const Node* before = producer(graph, node.inputs[0]);
    if (!before || expression_of(*before) != "x0 sigmoid") return std::nullopt;
    const bool weighted = node.inputs.size() == 3;
    const auto form = [&](const char* loss) {
        return pointwise_attributes(*find_loss(loss), {}, weighted);
    };
    if (node.attributes != form("binary_cross_entropy")) return std::nullopt;
    Node joined = node;
    joined.inputs[0] = before->inputs[0];
    joined.attributes = form("binary_cross_entropy_with_logits");
    return joined;
}

/// A pointwise loss of probabilities that takes their logarithms, over what they are made of;
/// nothing for other nodes.
std::vector<Node> loss_of_logarithms(const Graph& graph, const Node& node) {
    if (node.op != kPointwiseLoss) return {};
    const Node* before = producer(graph, node.inputs[0]);
    if (!before || op(before->op).gives != plan::Prediction::probabilities) return {};
    const std::string squash = expression_of(*before);
    const bool separate = squash == "x0 sigmoid";
    const bool distribution = squash.empty() && is_rows(graph.type(before->outputs[0]));
    if (!separate && !distribution) return {};
    auto attributes = over_logits(node.attributes, separate ? Squash::sigmoid : Squash::softmax);
    if (!attributes) return {};
    Node joined = node;
    joined.inputs[0] = before->inputs[0];
    joined.attributes = std::move(*attributes);
    if (separate) return {std::move(joined)};
    Node logarithms = *before;
    logarithms.op = "log_softmax";
    logarithms.phase = node.phase;
    return {std::move(logarithms), std::move(joined)};
}

std::vector<Node> general_form(const Graph& graph, const Node& node) {
    const auto& rule = op(node.op).general_form;
    return rule ? rule(graph, node) : std::vector<Node>();
}

/// Appends the general form of a node; its result takes the node's name.
void replace_by(Rewriter& r, const Graph& graph, const Node& node, std::vector<Node> form) {
    const std::string& name = graph.value(node.outputs[0]).name;
    ValueId last;
    for (std::size_t i = 0; i < form.size(); ++i) {
        Node& step = form[i];
        for (ValueId& input : step.inputs)
            input = r.map(input);
        if (last.valid()) step.inputs[0] = last;
        step.outputs.clear();
        last = emit(r, std::move(step), i + 1 == form.size() ? name : name + ".rows")[0];
    }
    r.replace(node.outputs[0], last);
}

}  // namespace

/// Gives every computation one form, so that later passes look for one.
///
///     %p = softmax(%x)                                ->  %l, %p = softmax_cross_entropy(%x, %t)
///     %l = categorical_cross_entropy(%p, %t)
///     %f = flatten(%x: T[N,C,H,W])                    ->  %d = dense(%x, @w: T[C,H,W,units])
///     %d = dense(%f, @w: T[C*H*W,units])
///     %p = log_softmax(%x)                            ->  %l, %p = softmax_cross_entropy(%x, %t)
///     %l = negative_log_likelihood(%p, %t)                when only accuracies read %p too
///     %p = sigmoid(%x)                                ->  %l = elementwise_mean(%x, %t) of
///     %l = elementwise_mean(%p, %t) of                    binary_cross_entropy_with_logits
///          binary_cross_entropy
///     %p = softmax(%x)                                ->  %q = log_softmax(%x)
///     %l = elementwise_mean(%p, %t) of log(p)             %l = elementwise_mean(%q, %t) of q;
///                                                         of a sigmoid over %x
///     %y = layer_norm(%x, @g: T[C,H,W], ...)          ->  %y = layer_norm(%x, @g: T[1,C,H,W], ...)
///     %y = depthwise_conv2d(%x: T[N,C,H,W], @w)       ->  %y = conv2d(%x, @w) {groups=C}
///     %p = zero_pad2d(%x)                             ->  %y = conv2d(%x, @w) {padding=...}
///     %y = conv2d(%p, @w)
///     %y = reshape(%x)                                ->  %r = flatten(%x)
///                                                         %y = unflatten(%r)
///     %y = global_max_pool2d(%x)                      ->  %y = adaptive_max_pool2d(%x)
///     %y = adaptive_max_pool2d(%x)                    ->  %y = max_pool2d(%x), where all windows
///                                                         are alike; so with averages
///     %y = dense(%x, @w: T[units,K]) {transposed}     ->  %y = dense_backward_data(%x, @w)
///     %y = multiply(%x: T[N,C,H,W], %g: T[N,C,1,1])   ->  %y = channel_scale(%x, %g)
///
/// Identities, dropout of rate 0, 1x1 pools of stride 1, sums, products and concatenations of one
/// operand, flattened rows, the second of two relus, and slices, paddings, sizes and shapes that
/// change nothing are removed. A parameter keeps the shape that users know. After attach_loss. Must
/// not fire on a flatten whose dense shares its weights with another kind of reader, nor on a
/// softmax over anything but the rows [N,C] of the loss.
std::optional<Graph> canonicalize(const Graph& graph, PassContext&) {
    const Uses uses(graph);
    std::vector<Dims> absorbed = absorbed_weights(graph, uses);
    Rewriter r(graph);
    for (std::size_t i = 0; i < absorbed.size(); ++i) {
        if (absorbed[i].empty()) continue;
        const ValueId fresh = r.map(ValueId(i));
        Type type = r.graph().type(fresh);
        type.dims = absorbed[i];
        r.graph().set_type(fresh, type);
    }

    for (const Node& node : graph.nodes) {
        if (r.is_mapped(node.outputs[0])) continue;  // a loss that its softmax took along
        if (does_nothing(graph, node)) {
            r.replace(node.outputs[0], r.map(node.inputs[0]));
        } else if (const Node* loss = loss_of_softmax(graph, uses, node)) {
            Node fused = r.mapped(node);
            fused.op = "softmax_cross_entropy";
            fused.inputs.push_back(r.map(loss->inputs[1]));
            fused.attributes = pick(loss->attributes, {"smoothing", "class_weights"});
            const auto results = emit(r, std::move(fused), graph.value(loss->outputs[0]).name);
            r.replace(loss->outputs[0], results[0]);
            r.replace(node.outputs[0], results[1], true);
        } else if (node.op == kDense && !absorbed[node.inputs[1].index()].empty()) {
            Node dense = r.mapped(node);
            dense.inputs[0] = r.map(flattened_image(graph, node.inputs[0]));
            r.replace(node.outputs[0],
                      emit(r, std::move(dense), graph.value(node.outputs[0]).name)[0]);
        } else if (auto joined = loss_of_sigmoid(graph, node)) {
            replace_by(r, graph, node, {std::move(*joined)});
        } else if (auto over = loss_of_logarithms(graph, node); !over.empty()) {
            replace_by(r, graph, node, std::move(over));
        } else if (auto form = general_form(graph, node); !form.empty()) {
            replace_by(r, graph, node, std::move(form));
        } else {
            r.copy(node);
        }
    }
    // Nodes that were absorbed or bypassed and have no other reader are gone.
    Graph result = r.take();
    auto without = remove_unread(result, [](const Node& node) {
        return op(node.op).operands_wish == Wish::row_major || op(node.op).pads;
    });
    return without ? std::move(*without) : std::move(result);
}

}  // namespace dtnn::compiler
