#include "compiler/ops/node_kinds.hpp"

#include "compiler/ops/emit.hpp"

namespace dtnn::compiler {
namespace {

std::size_t mix(std::size_t seed, std::size_t value) {
    return (seed ^ value) * 0x9e3779b97f4a7c15ULL + (seed >> 32);
}

}  // namespace

std::size_t NodeKinds::KeyHash::operator()(const Key& key) const {
    std::size_t h = key.size();
    for (const std::uint32_t number : key)
        h = mix(h, number);
    return h;
}

void NodeKinds::begin(const Graph& graph) {
    graph_ = &graph;
    type_of_value_.resize(graph.values.size());
    constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
    std::vector<std::uint32_t> known(graph.pool_types(), kUnknown);
    for (std::size_t i = 0; i < graph.values.size(); ++i) {
        const TypeRef type = graph.values[i].type;
        std::uint32_t& number = known[type.number()];
        if (number == kUnknown) number = number_of(*type);
        type_of_value_[i] = number;
    }
}

const NodeKinds::Kind& NodeKinds::of(const Node& node) {
    key_.clear();
    key_.push_back(op_number(node.op));
    key_.push_back(attributes_number(node.attributes));
    for (const ValueId input : node.inputs)
        key_.push_back(type_number(input));
    const auto [found, added] = by_key_.try_emplace(key_, kinds_.size());
    if (!added) return kinds_[found->second];
    Kind& kind = kinds_.emplace_back();
    kind.number = std::uint32_t(found->second);
    kind.op = find_op(node.op);
    if (!kind.op) return kind;
    std::vector<Type> inputs;
    inputs.reserve(node.inputs.size());
    for (const ValueId input : node.inputs)
        inputs.push_back(graph_->type(input));
    Attributes attributes = node.attributes;
    kind.error = infer(*kind.op, inputs, attributes, kind.results);
    return kind;
}

void NodeKinds::share_attributes(Graph& graph) {
    for (Node& node : graph.nodes) {
        if (node.attributes.empty() || attributes_.known(node.attributes)) continue;
        const AttributeSet::Entry& entry = attributes_.entry(node.attributes);
        // Attributes that the graph keeps stand at many of its nodes.
        if (graph.keeps(node.attributes))
            attributes_.add_alias(node.attributes, entry);
        else
            node.attributes = entry.attributes;
    }
}

std::uint32_t NodeKinds::attributes_number(const Attributes& attributes) {
    return attributes_.entry(attributes).number;
}

std::uint32_t NodeKinds::number_of(const Type& type) {
    const std::size_t hash = hash_of(type);
    const auto [first, last] = types_.equal_range(hash);
    for (auto it = first; it != last; ++it)
        if (it->second.first == type) return it->second.second;
    types_.emplace(hash, std::pair(type, type_count_));
    return type_count_++;
}

std::uint32_t NodeKinds::op_number(Symbol op) {
    return ops_.try_emplace(op, std::uint32_t(ops_.size())).first->second;
}

}  // namespace dtnn::compiler
