#include <algorithm>

#include "compiler/ops/emit.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/rewriting.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {
namespace {

/// Images, rows and weights may be held in 16 bits, not what there is one number of for each
/// channel, which is a list, nor sums in double.
bool is_reducible(const Type& type) {
    return type.dtype == DType::f32 && type.dims != Dims{type.elements()} && !type.dims.empty();
}

class PrecisionReducer {
  public:
    PrecisionReducer(const Graph& graph, const PassContext& context, DType dtype)
        : r_(graph), context_(context), dtype_(dtype) {}

    Graph run() {
        for (const Node& node : r_.old().nodes)
            rewrite(node);
        for (const GraphOutput& output : r_.old().outputs)
            leave(output.value);
        for (const Update& update : r_.old().updates)
            leave(update.value);
        return r_.take();
    }

  private:
    /// What leaves the graph is wide.
    void leave(ValueId old) {
        const ValueId value = r_.map(old);
        if (is_reduced(value)) r_.replace(old, widened(value, Node{}));
    }

    bool is_reduced(ValueId value) { return dtnn::is_reduced(r_.graph().type(value).dtype); }

    void rewrite(const Node& old) {
        Node node = r_.mapped(old);
        const bool reducible = context_.reduces(old);
        bool reduces = reducible && op(old.op).multiplies;
        for (const ValueId input : node.inputs)
            reduces = reduces || (reducible && is_reduced(input));
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const ValueId input = node.inputs[i];
            if (!reduces && is_reduced(input)) node.inputs[i] = widened(input, old);
            if (reduces && is_reducible(r_.graph().type(input)))
                node.inputs[i] = narrowed(input, old);
        }
        if (!reduces) {
            if (node.inputs == r_.mapped(old).inputs)
                r_.copy(old);
            else
                add(old, std::move(node));
            return;
        }
        add(old, std::move(node));
    }

    /// The old node with other operands. Its results are stored as they were, in the types that
    /// follow from the operands.
    void add(const Node& old, Node node) {
        std::vector<Type> inputs, types;
        for (const ValueId input : node.inputs)
            inputs.push_back(r_.graph().type(input));
        const auto mistake = infer(op(node.op), inputs, node.attributes, types);
        DTNN_CHECK(!mistake, "{}", mistake ? mistake->text : "");
        std::vector<std::string> names;
        for (std::size_t i = 0; i < types.size(); ++i) {
            const Value& result = r_.old().value(old.outputs[i]);
            types[i] = {types[i].dtype, result.type->dims, result.type->order, result.type->axes};
            names.emplace_back(result.name);
        }
        const NodeId added = r_.add_node(std::move(node), types, names[0], names);
        const ValueList results = r_.graph().node(added).outputs;
        for (std::size_t i = 0; i < results.size(); ++i)
            r_.replace(old.outputs[i], results[i]);
    }

    /// The value in 16 bits, rounded where it is first asked for.
    ValueId narrowed(ValueId value, const Node& reader) {
        return other_form(narrowed_, value, reader, "cast_narrow",
                          {{"to", std::string(plan::name_of(dtype_))}});
    }
    ValueId widened(ValueId value, const Node& reader) {
        return other_form(widened_, value, reader, "cast_wide", {});
    }
    ValueId other_form(std::vector<ValueId>& known, ValueId value, const Node& reader,
                       const char* op_name, Attributes attributes) {
        known.resize(std::max(known.size(), value.index() + 1));
        if (known[value.index()].valid()) return known[value.index()];
        Type type = r_.graph().type(value);
        type.dtype = dtnn::is_reduced(type.dtype) ? wide_of(type.dtype) : dtype_;
        Node node;
        node.op = op_name;
        node.inputs = {value};
        node.attributes = std::move(attributes);
        node.phase = reader.phase;
        node.layer = reader.layer;
        node.place = reader.place;
        const std::string name = std::string(r_.graph().value(value).name) + "." +
                                 std::string(plan::name_of(type.dtype));
        const NodeId added = r_.add_node(std::move(node), {type}, name);
        return known[value.index()] = r_.graph().node(added).outputs[0];
    }

    Rewriter r_;
    const PassContext& context_;
    DType dtype_;
    std::vector<ValueId> narrowed_, widened_;  // by new value
};

bool is_wide(const Graph& graph, const Node& node) {
    const StoredWeights& stored = *op(node.op).weights;
    const ValueList& values = stored.result ? node.outputs : node.inputs;
    return has_wide_factors(op(node.op), graph.type(values[stored.index]).dims, node.attributes);
}

/// Lets what multiplies round its factors, as the attribute of that name says; only what has wide
/// ones where `wide_only`.
std::optional<Graph> with_rounded_factors(const Graph& graph, const char* attribute,
                                          bool wide_only) {
    Rewriter r(graph);
    bool any = false;
    for (const Node& node : graph.nodes) {
        if (!op(node.op).multiplies || (wide_only && !is_wide(graph, node))) {
            r.copy(node);
            continue;
        }
        Node rounding = node;
        rounding.attributes[attribute] = true;
        r.copy(rounding);
        any = true;
    }
    if (!any) return std::nullopt;
    return r.take();
}

}  // namespace

/// Stores values in 16 bits, or lets convolutions and products round their factors to TF32 or to
/// bfloat16, where the training asks for it (plan::Compute). To bfloat16 those of convolutions
/// without groups and of dense layers, of at least 32 channels and 32 filters (inputs, units):
///
///     %y = conv2d(%x, @w) : f32     ->   %a = cast_narrow(%x), %b = cast_narrow(@w)
///                                        %y = conv2d(%a, %b) : bf16
///     %l = cross_entropy(%y, %t)    ->   %c = cast_wide(%y), %l = cross_entropy(%c, %t)
///
/// Operators that multiply take and give 16 bits. Others that can (PassContext::reduces) do so
/// where an operand has them; the rest read widened operands, and so do the graph's outputs
/// and what is kept from step to step.
/// Parameters, their gradients and statistics stay as they are: weights are rounded once a step.
/// Behind the patterns, which know operators and not what rounds their operands. Must not fire for
/// `full`.
std::optional<Graph> reduce_precision(const Graph& graph, PassContext& context) {
    switch (context.compute) {
        case plan::Compute::full:
            return std::nullopt;
        case plan::Compute::tf32:
            return with_rounded_factors(graph, "tf32", false);
        case plan::Compute::bf16_products:
            return with_rounded_factors(graph, "bf16", true);
        case plan::Compute::bf16:
            return PrecisionReducer(graph, context, DType::bf16).run();
        case plan::Compute::fp16:
            return PrecisionReducer(graph, context, DType::fp16).run();
    }
    return std::nullopt;
}

}  // namespace dtnn::compiler
