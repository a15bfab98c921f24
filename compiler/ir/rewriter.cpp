#include "compiler/ir/rewriter.hpp"

#include "compiler/support/check.hpp"

namespace dtnn::compiler {

Rewriter::Rewriter(const Graph& old) : old_(old), map_(old.values.size()) {
    new_.name = old.name;
    new_.training = old.training;
    new_.layers = old.layers;
    new_.nodes.reserve(old.nodes.size());
    new_.values.reserve(old.values.size());
    for (std::size_t i = 0; i < old.values.size(); ++i) {
        const Value& v = old.values[i];
        if (v.kind == ValueKind::result) continue;
        const ValueId id(new_.values.size());
        map_[i] = id;
        new_.values.push_back(v);
    }
    for (const ValueId input : old.inputs)
        new_.inputs.push_back(map(input));
    for (const Parameter& parameter : old.parameters) {
        new_.parameters.push_back(parameter);
        new_.parameters.back().value = map(parameter.value);
    }
}

ValueId Rewriter::map(ValueId old) const {
    DTNN_CHECK(old.valid() && old.index() < map_.size(), "value {} of {}", old.index(),
               map_.size());
    const ValueId result = map_[old.index()];
    DTNN_CHECK(result.valid(), "`%{}` was dropped but is still read", old_.value(old).name);
    return result;
}

std::vector<ValueId> Rewriter::map(const std::vector<ValueId>& old) const {
    std::vector<ValueId> result;
    result.reserve(old.size());
    for (const ValueId id : old)
        result.push_back(map(id));
    return result;
}

Node Rewriter::mapped(const Node& node) const {
    Node result = node;
    result.inputs = map(node.inputs);
    result.outputs.clear();
    return result;
}

std::vector<ValueId> Rewriter::copy(const Node& node) {
    Node copied = mapped(node);
    const NodeId id(new_.nodes.size());
    for (const ValueId old : node.outputs) {
        Value v = old_.value(old);
        v.name = unique(v.name);
        v.producer = id;
        const ValueId fresh(new_.values.size());
        new_.values.push_back(std::move(v));
        copied.outputs.push_back(fresh);
        map_[old.index()] = fresh;
    }
    new_.nodes.push_back(std::move(copied));
    if (!node.outputs.empty()) note_prologue(node.outputs.front());
    return new_.nodes.back().outputs;
}

NodeId Rewriter::add_node(Node node, const std::vector<Type>& types, const std::string& name,
                          const std::vector<std::string>& result_names) {
    const NodeId id(new_.nodes.size());
    node.outputs.clear();
    for (std::size_t i = 0; i < types.size(); ++i) {
        Value v;
        v.name = unique(i < result_names.size() ? result_names[i]
                        : i == 0                ? name
                                                : fmt::format("{}.{}", name, i));
        v.type = types[i];
        v.kind = ValueKind::result;
        v.producer = id;
        v.output = static_cast<int>(i);
        node.outputs.push_back(ValueId(new_.values.size()));
        new_.values.push_back(std::move(v));
    }
    new_.nodes.push_back(std::move(node));
    return id;
}

ValueId Rewriter::add_input(const std::string& name, Type type) {
    const ValueId id(new_.values.size());
    Value v;
    v.name = unique(name);
    v.type = std::move(type);
    v.kind = ValueKind::input;
    new_.values.push_back(std::move(v));
    new_.inputs.push_back(id);
    return id;
}

ValueId Rewriter::add_parameter(Parameter parameter, Type type) {
    const ValueId id(new_.values.size());
    if (type.dims.empty()) type.dims = parameter.dims;
    Value v;
    v.name = unique(parameter.name);
    v.type = std::move(type);
    v.kind = ValueKind::parameter;
    v.parameter = ParameterId(new_.parameters.size());
    parameter.value = id;
    new_.values.push_back(std::move(v));
    new_.parameters.push_back(std::move(parameter));
    return id;
}

void Rewriter::replace(ValueId old, ValueId replacement, bool keep_name) {
    DTNN_CHECK(replacement.valid() && replacement.index() < new_.values.size(),
               "replacement of `%{}`", old_.value(old).name);
    map_[old.index()] = replacement;
    Value& fresh = new_.value(replacement);
    if (keep_name && fresh.kind == ValueKind::result) {
        const std::string before = fresh.name;
        const std::string& wanted = old_.value(old).name;
        if (before != wanted) {
            unique("");  // brings the set of names up to date
            if (names_.insert(wanted).second) {
                fresh.name = wanted;
                names_.erase(before);
            }
        }
    }
    note_prologue(old);
}

void Rewriter::note_prologue(ValueId old) {
    const Value& v = old_.value(old);
    if (v.kind == ValueKind::result && static_cast<int>(v.producer.index()) < old_.prologue)
        prologue_ = static_cast<int>(new_.nodes.size());
}

Graph Rewriter::take() {
    for (const GraphOutput& output : old_.outputs)
        new_.outputs.push_back({output.name, map(output.value)});
    for (const Update& update : old_.updates)
        new_.updates.push_back({map(update.state), map(update.value)});
    new_.prologue = prologue_;
    return std::move(new_);
}

std::string Rewriter::unique(const std::string& wanted) {
    for (; named_ < new_.values.size(); ++named_)
        names_.insert(new_.values[named_].name);
    if (wanted.empty()) return wanted;
    if (!names_.contains(wanted)) return wanted;
    for (int& i = ++next_[wanted];; ++i) {
        std::string name = fmt::format("{}.{}", wanted, i);
        if (!names_.contains(name)) return name;
    }
}

bool same_computation(const Node& a, const Node& b) {
    return a.op == b.op && a.inputs == b.inputs && a.attributes == b.attributes;
}

std::size_t computation_hash(const Node& node) {
    const auto mix = [](std::size_t seed, std::size_t value) {
        return seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
    };
    std::size_t h = std::hash<std::string>{}(node.op);
    for (const ValueId input : node.inputs)
        h = mix(h, input.index());
    for (const auto& [name, value] : node.attributes) {
        h = mix(h, std::hash<std::string>{}(name));
        h = mix(h, value.index());
    }
    return h;
}

}  // namespace dtnn::compiler
