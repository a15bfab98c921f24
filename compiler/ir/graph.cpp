#include "compiler/ir/graph.hpp"

#include <charconv>
#include <string_view>

#include "compiler/support/check.hpp"

namespace dtnn::compiler {

ValueId Graph::add_input(std::string input_name, Type type) {
    const ValueId id(values.size());
    Value v;
    v.name = unique_name(input_name);
    v.type = std::move(type);
    v.kind = ValueKind::input;
    values.push_back(std::move(v));
    inputs.push_back(id);
    return id;
}

ValueId Graph::add_parameter(Parameter parameter, Type type) {
    const ValueId id(values.size());
    const ParameterId parameter_id(parameters.size());
    if (type.dims.empty()) type.dims = parameter.dims;
    DTNN_CHECK(plan::element_count(type.dims) == plan::element_count(parameter.dims),
               "parameter {}", parameter.name);
    Value v;
    v.name = unique_name(parameter.name);
    v.type = std::move(type);
    v.kind = ValueKind::parameter;
    v.parameter = parameter_id;
    parameter.value = id;
    values.push_back(std::move(v));
    parameters.push_back(std::move(parameter));
    return id;
}

NodeId Graph::add_node(Node node, const std::vector<Type>& types, const std::string& wanted) {
    const NodeId id(nodes.size());
    node.outputs.clear();
    for (std::size_t i = 0; i < types.size(); ++i) {
        Value v;
        v.name = unique_name(wanted);
        v.type = types[i];
        v.kind = ValueKind::result;
        v.producer = id;
        v.output = static_cast<int>(i);
        node.outputs.push_back(ValueId(values.size()));
        values.push_back(std::move(v));
    }
    nodes.push_back(std::move(node));
    return id;
}

std::string Graph::unique_name(const std::string& wanted) const {
    // One scan finds whether the name is taken and the largest number already appended to it, so
    // that naming stays linear however often the same name is wanted.
    bool taken = false;
    int largest = 0;
    for (const Value& v : values) {
        const std::string_view have = v.name;
        if (have.size() < wanted.size() || !have.starts_with(wanted)) continue;
        if (have.size() == wanted.size()) {
            taken = true;
        } else if (have[wanted.size()] == '.') {
            const char* first = have.data() + wanted.size() + 1;
            const char* last = have.data() + have.size();
            int number = 0;
            const auto [end, failure] = std::from_chars(first, last, number);
            if (failure == std::errc() && end == last && number > largest) largest = number;
        }
    }
    return taken ? fmt::format("{}.{}", wanted, largest + 1) : wanted;
}

std::vector<std::vector<NodeId>> Graph::readers() const {
    std::vector<std::vector<NodeId>> result(values.size());
    for (std::size_t n = 0; n < nodes.size(); ++n) {
        for (const ValueId input : nodes[n].inputs) {
            auto& of = result[input.index()];
            if (of.empty() || of.back() != NodeId(n)) of.push_back(NodeId(n));
        }
    }
    return result;
}

const char* name_of(Phase phase) {
    switch (phase) {
        case Phase::forward:
            return "forward";
        case Phase::backward:
            return "backward";
        case Phase::update:
            return "update";
        case Phase::metric:
            return "metric";
    }
    return "?";
}

}  // namespace dtnn::compiler
