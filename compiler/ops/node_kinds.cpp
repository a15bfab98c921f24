#include "compiler/ops/node_kinds.hpp"

#include <algorithm>
#include <cmath>

#include "compiler/ops/emit.hpp"

namespace dtnn::compiler {
namespace {

std::size_t mix(std::size_t seed, std::size_t value) {
    return (seed ^ value) * 0x9e3779b97f4a7c15ULL + (seed >> 32);
}

std::size_t hash_of(const plan::AttributeValue& value) {
    return std::visit(
        [](const auto& v) {
            using V = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<V, std::vector<std::int64_t>>) {
                std::size_t h = v.size();
                for (const std::int64_t element : v)
                    h = mix(h, static_cast<std::size_t>(element));
                return h;
            } else if constexpr (std::is_same_v<V, std::vector<double>>) {
                std::size_t h = v.size();
                for (const double element : v)
                    h = mix(h, std::hash<double>{}(element));
                return h;
            } else {
                return std::hash<V>{}(v);
            }
        },
        value);
}

std::size_t hash_of(const Attributes& attributes) {
    std::size_t h = attributes.size();
    for (const auto& [name, value] : attributes)
        h = mix(mix(h, std::hash<std::string>{}(name)), hash_of(value) + value.index());
    return h;
}

// Equality takes the two zeros for one number; texts do not.
bool identical(const Attributes& a, const Attributes& b) {
    if (a != b) return false;
    return std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
        const auto* real = std::get_if<double>(&x.second);
        return !real || std::signbit(*real) == std::signbit(std::get<double>(y.second));
    });
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
    kind.number = static_cast<std::uint32_t>(found->second);
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
    for (Node& node : graph.nodes)
        if (!node.attributes.empty() && !by_map_.contains(&node.attributes.map()))
            node.attributes = shared(node.attributes).attributes;
}

std::uint32_t NodeKinds::attributes_number(const Attributes& attributes) {
    return shared(attributes).number;
}

const NodeKinds::SharedAttributes& NodeKinds::shared(const Attributes& attributes) {
    if (const auto known = by_map_.find(&attributes.map()); known != by_map_.end())
        return *known->second;
    const std::size_t hash = hash_of(attributes);
    const auto [first, last] = attributes_.equal_range(hash);
    for (auto it = first; it != last; ++it)
        if (identical(it->second.attributes, attributes)) return it->second;
    const auto number = static_cast<std::uint32_t>(attributes_.size());
    const SharedAttributes& entry =
        attributes_.emplace(hash, SharedAttributes{attributes, number})->second;
    by_map_.emplace(&entry.attributes.map(), &entry);
    return entry;
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
    return ops_.try_emplace(op, static_cast<std::uint32_t>(ops_.size())).first->second;
}

}  // namespace dtnn::compiler
