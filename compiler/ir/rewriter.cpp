#include "compiler/ir/rewriter.hpp"

#include <algorithm>

#include "compiler/support/check.hpp"

namespace dtnn::compiler {

Rewriter::Rewriter(const Graph& old) : Rewriter(old, std::vector<bool>(old.parameters.size())) {}

Rewriter::Rewriter(const Graph& old, const std::vector<bool>& dropped)
    : old_(old), map_(old.values.size()) {
    new_.name = old.name;
    new_.training = old.training;
    new_.layers = old.layers;
    new_.continue_from(old);
    const bool all = std::find(dropped.begin(), dropped.end(), true) == dropped.end();
    std::vector<ParameterId> numbers;  // by old parameter
    numbers.reserve(dropped.size());
    std::size_t kept = 0;
    for (const bool gone : dropped)
        numbers.push_back(gone ? ParameterId() : ParameterId(kept++));
    for (std::size_t i = 0; i < old.values.size(); ++i) {
        const Value& v = old.values[i];
        if (v.kind == ValueKind::result) continue;
        if (v.kind == ValueKind::parameter && !numbers[v.parameter.index()].valid()) continue;
        const ValueId id(new_.values.size());
        map_[i] = id;
        new_.values.push_back(v);
        if (v.kind == ValueKind::parameter)
            new_.values.back().parameter = numbers[v.parameter.index()];
    }
    for (const ValueId input : old.inputs)
        new_.inputs.push_back(map(input));
    if (all) {
        new_.parameters = old.parameters;
    } else {
        for (std::size_t i = 0; i < old.parameters.size(); ++i)
            if (!dropped[i]) new_.parameters.push_back(old.parameters[i]);
    }
    std::vector<ValueId> parameter_values;
    parameter_values.reserve(new_.parameters.size());
    for (const Parameter& parameter : new_.parameters)
        parameter_values.push_back(map(parameter.value));
    new_.parameters.set_values(parameter_values);
}

ValueId Rewriter::map(ValueId old) const {
    DTNN_CHECK(old.valid() && old.index() < map_.size(), "value {} of {}", old.index(),
               map_.size());
    const ValueId result = map_[old.index()];
    DTNN_CHECK(result.valid(), "`%{}` was dropped but is still read", old_.value(old).name);
    return result;
}

ValueList Rewriter::map(const ValueList& old) const {
    ValueList result;
    result.reserve(old.size());
    for (const ValueId id : old)
        result.push_back(map(id));
    return result;
}

Node Rewriter::mapped(const Node& node) const {
    Node result;
    result.op = node.op;
    result.inputs = map(node.inputs);
    result.attributes = node.attributes;
    result.phase = node.phase;
    result.layer = node.layer;
    result.place = node.place;
    return result;
}

ValueList Rewriter::copy(const Node& node) {
    const NodeId id(new_.nodes.size());
    // Before the results have their names: an operand that was dropped leaves the graph as it was.
    ValueList inputs = map(node.inputs);
    ValueList outputs;
    outputs.reserve(node.outputs.size());
    for (const ValueId old : node.outputs) {
        const ValueId fresh = new_.add_value(old_.value(old));
        new_.value(fresh).producer = id;
        outputs.push_back(fresh);
        map_[old.index()] = fresh;
    }
    Node& copied = new_.nodes.emplace_back();
    copied.op = node.op;
    copied.inputs = std::move(inputs);
    copied.outputs = std::move(outputs);
    copied.attributes = node.attributes;
    copied.phase = node.phase;
    copied.layer = node.layer;
    copied.place = node.place;
    if (!node.outputs.empty()) note_prologue(node.outputs.front());
    return copied.outputs;
}

NodeId Rewriter::add_node(Node node, const std::vector<Type>& types, const std::string& name,
                          const std::vector<std::string>& result_names) {
    return new_.add_node(std::move(node), types, name, result_names);
}

ValueId Rewriter::add_input(const std::string& name, const Type& type) {
    return new_.add_input(name, type);
}

ValueId Rewriter::add_parameter(Parameter parameter, Type type) {
    return new_.add_parameter(std::move(parameter), std::move(type));
}

void Rewriter::replace(ValueId old, ValueId replacement, bool keep_name) {
    DTNN_CHECK(replacement.valid() && replacement.index() < new_.values.size(),
               "replacement of `%{}`", old_.value(old).name);
    map_[old.index()] = replacement;
    const Name wanted = old_.value(old).name;
    if (keep_name && new_.value(replacement).kind == ValueKind::result &&
        !new_.has_value_named(wanted))
        new_.rename(replacement, wanted);
    note_prologue(old);
}

void Rewriter::note_prologue(ValueId old) {
    const Value& v = old_.value(old);
    if (v.kind == ValueKind::result && int(v.producer.index()) < old_.prologue)
        prologue_ = int(new_.nodes.size());
}

Graph Rewriter::take() {
    for (const GraphOutput& output : old_.outputs)
        new_.outputs.push_back({output.name, map(output.value)});
    for (const Update& update : old_.updates)
        if (is_mapped(update.state)) new_.updates.push_back({map(update.state), map(update.value)});
    new_.prologue = prologue_;
    return std::move(new_);
}

bool same_computation(const Node& a, const Node& b) {
    return a.op == b.op && a.inputs == b.inputs && a.attributes == b.attributes;
}

std::size_t computation_hash(const Node& node) {
    return computation_hash(node.op, node.inputs, node.attributes);
}

std::size_t computation_hash(Symbol op, const ValueList& inputs, const Attributes& attributes) {
    const auto mix = [](std::size_t seed, std::size_t value) {
        return seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
    };
    std::size_t h = op.hash();
    for (const ValueId input : inputs)
        h = mix(h, input.index());
    for (const auto& [name, value] : attributes) {
        h = mix(h, std::hash<std::string>{}(name));
        h = mix(h, value.index());
    }
    return h;
}

}  // namespace dtnn::compiler
