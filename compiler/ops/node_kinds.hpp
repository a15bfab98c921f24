#pragma once
/// The kinds of nodes. The nodes of a network are many, their kinds few: what follows from
/// operator, attributes and operand types alone is the same for all nodes of a kind and is worked
/// out once.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ops/op.hpp"

namespace dtnn::compiler {

/// Numbers for types and attributes (equal ones have one number), and kinds of nodes by them. One
/// object serves any number of graphs one after the other; what it learnt stays true, because it
/// keeps the contents and not where they stood.
class NodeKinds {
  public:
    struct Kind {
        std::uint32_t number = 0;   ///< counted from 0 in the order that kinds appear
        const OpDef* op = nullptr;  ///< null: no operator has that name
        std::optional<ShapeError> error;
        std::vector<Type> results;  ///< as the shape rule gives them, when there is no error
    };

    /// The graph whose nodes the next calls are about. It must not change between them.
    void begin(const Graph& graph);
    /// The kind of a node of the graph. The reference holds as long as the object.
    const Kind& of(const Node& node);

    /// Lets nodes with equal attributes share one map, so that comparing them again costs nothing.
    void share_attributes(Graph& graph);

    /// The number of the type of a value of the graph.
    std::uint32_t type_number(ValueId value) const { return type_of_value_[value.index()]; }
    std::uint32_t attributes_number(const Attributes& attributes);

  private:
    using Key = std::vector<std::uint32_t>;
    struct KeyHash {
        std::size_t operator()(const Key& key) const;
    };
    std::uint32_t number_of(const Type& type);
    std::uint32_t op_number(Symbol op);

    const Graph* graph_ = nullptr;
    std::vector<std::uint32_t> type_of_value_;
    std::unordered_multimap<std::size_t, std::pair<Type, std::uint32_t>> types_;
    std::uint32_t type_count_ = 0;
    AttributeSet attributes_;
    std::unordered_map<Symbol, std::uint32_t> ops_;
    std::unordered_map<Key, std::size_t, KeyHash> by_key_;
    std::deque<Kind> kinds_;
    Key key_;
};

}  // namespace dtnn::compiler
