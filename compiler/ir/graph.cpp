#include "compiler/ir/graph.hpp"

#include <algorithm>

#include "compiler/ir/axes.hpp"
#include "compiler/support/check.hpp"

namespace dtnn::compiler {

void ParameterTable::set_values(const std::vector<ValueId>& values) {
    bool same = true;
    for (std::size_t i = 0; i < values.size(); ++i)
        same = same && rows()[i].value == values[i];
    if (same) return;
    Rows& changed = own();
    for (std::size_t i = 0; i < values.size(); ++i)
        changed[i].value = values[i];
}

namespace {

/// `target` has two words: classes are labels, numbers are targets.
plan::InputRole role_of_input(std::string_view name) {
    plan::InputRole role{};
    if (name == "labels" || name == "targets") return plan::InputRole::target;
    return plan::parse_name(name, role) ? role : plan::InputRole::feature;
}

}  // namespace

bool is_reserved_input(std::string_view name) {
    return role_of_input(name) != plan::InputRole::feature;
}

ValueId Graph::find_input(plan::InputRole role) const {
    for (const ValueId input : inputs)
        if (value(input).role == role) return input;
    return {};
}

ValueId Graph::add_input(const std::string& input_name, Type type) {
    return add_input(input_name, std::move(type), role_of_input(input_name));
}

ValueId Graph::add_input(const std::string& input_name, Type type, plan::InputRole role) {
    if (type.axes.empty() && !type.dims.empty()) type.axes = usual_axes(type.dims.size() - 1);
    const ValueId id(values.size());
    Value v;
    v.name = take_name(input_name);
    v.type = pool().type(type);
    v.kind = ValueKind::input;
    v.role = role;
    v.output = int(std::count_if(inputs.begin(), inputs.end(),
                                 [&](ValueId input) { return value(input).role == v.role; }));
    values.push_back(v);
    inputs.push_back(id);
    return id;
}

ValueId Graph::add_parameter(Parameter parameter, Type type) {
    const ValueId id(values.size());
    const ParameterId parameter_id(parameters.size());
    if (type.dims.empty()) type.dims = parameter.dims;
    DTNN_CHECK(element_count(type.dims) == element_count(parameter.dims), "parameter {}",
               parameter.name);
    Value v;
    v.name = take_name(parameter.name);
    v.type = pool().type(type);
    v.kind = ValueKind::parameter;
    v.parameter = parameter_id;
    parameter.value = id;
    values.push_back(v);
    parameters.push_back(std::move(parameter));
    return id;
}

NodeId Graph::add_node(Node node, const std::vector<Type>& types, const std::string& wanted,
                       const std::vector<std::string>& result_names) {
    const NodeId id(nodes.size());
    node.outputs.clear();
    for (std::size_t i = 0; i < types.size(); ++i) {
        Value v;
        v.name = take_name(i < result_names.size() ? result_names[i] : wanted);
        v.type = pool().type(types[i]);
        v.kind = ValueKind::result;
        v.producer = id;
        v.output = int(i);
        node.outputs.push_back(ValueId(values.size()));
        values.push_back(v);
    }
    if (!node.attributes.empty()) node.attributes = pool().attributes(node.attributes);
    nodes.push_back(std::move(node));
    return id;
}

ValueId Graph::add_value(const Value& added) {
    const ValueId id(values.size());
    values.push_back(added);
    if (names_.add_last(values)) return id;
    values.pop_back();
    const Name free_name = unique_name(added.name);
    values.push_back(added);
    values.back().name = free_name;
    return id;
}

void Graph::continue_from(const Graph& other) {
    DTNN_CHECK(values.empty(), "{} values of another pool", values.size());
    pool_ = other.pool_;
    nodes.reserve(other.nodes.size());
    values.reserve(other.values.size());
    names_.reserve(pool_names());
}

Pool& Graph::pool() {
    if (!pool_) pool_ = std::make_shared<Pool>();
    return *pool_;
}

Name Graph::unique_name(const std::string& wanted) {
    return names_.unique(pool(), values, wanted);
}

bool Graph::has_value_named(const std::string& wanted) {
    return names_.contains(values, pool().name(wanted));
}

void Graph::rename(ValueId id, const std::string& wanted) {
    rename(id, pool().name(wanted));
}

void Graph::rename(ValueId id, Name wanted) {
    const Name before = value(id).name;
    value(id).name = wanted;
    names_.renamed(values, id.index(), before);
}

void Graph::set_type(ValueId id, const Type& type) {
    value(id).type = pool().type(type);
}

Name Graph::take_name(const std::string& wanted) {
    return names_.unique(pool(), values, wanted, true);
}

Readers::Readers(const Graph& graph) : begin_(graph.values.size() + 1), end_(graph.values.size()) {
    for (const Node& node : graph.nodes)
        for (const ValueId input : node.inputs)
            ++begin_[input.index() + 1];
    for (std::size_t i = 1; i < begin_.size(); ++i)
        begin_[i] += begin_[i - 1];
    for (std::size_t i = 0; i < end_.size(); ++i)
        end_[i] = begin_[i];
    nodes_.resize(begin_.back());
    for (std::size_t n = 0; n < graph.nodes.size(); ++n)
        for (const ValueId input : graph.nodes[n].inputs) {
            std::uint32_t& end = end_[input.index()];
            // A node that reads the value twice is listed once.
            if (end == begin_[input.index()] || nodes_[end - 1] != NodeId(n))
                nodes_[end++] = NodeId(n);
        }
}

const Node* producer(const Graph& graph, ValueId value) {
    const Value& v = graph.value(value);
    return v.kind == ValueKind::result ? &graph.node(v.producer) : nullptr;
}

}  // namespace dtnn::compiler
