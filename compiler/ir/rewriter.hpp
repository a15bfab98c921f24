#pragma once
/// The tool of pure passes: walks an old graph and builds a new one.
///
///     Rewriter r(graph);
///     for (const Node& node : graph.nodes) {
///         if (fits(node)) r.replace(node.outputs[0], emit(r.graph(), r.mapped(node), "name")[0]);
///         else r.copy(node);
///     }
///     return r.take();
///
/// The new graph begins with the old one's name, inputs, parameters and layer table. A node that is
/// neither copied nor replaced is gone; reading one of its results afterwards is an internal error,
/// so nothing is lost silently.

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.hpp"

namespace dtnn::compiler {

class Rewriter {
  public:
    explicit Rewriter(const Graph& old);
    /// Likewise without the parameters of these numbers: what reads or updates one must not be
    /// copied, nor stay among the updates.
    Rewriter(const Graph& old, const std::vector<bool>& dropped);

    /// The graph under construction. New nodes may be appended to it directly (`emit`, `add_node`).
    Graph& graph() { return new_; }
    const Graph& old() const { return old_; }

    /// The new value of an old one; an old value without one is our bug.
    ValueId map(ValueId old) const;
    ValueList map(const ValueList& old) const;
    bool is_mapped(ValueId old) const { return map_[old.index()].valid(); }

    /// `node` with its operands mapped and without results: the start of a changed node.
    Node mapped(const Node& node) const;

    /// Copies a node of the old graph, with the names and types of its results. Returns the new
    /// results.
    ValueList copy(const Node& node);

    /// As the graph's functions of these names. `name` may be that of the old value that is
    /// replaced: nodes that are not copied leave their names free.
    NodeId add_node(Node node, const std::vector<Type>& types, const std::string& name,
                    const std::vector<std::string>& result_names = {});
    ValueId add_input(const std::string& name, const Type& type);
    ValueId add_parameter(Parameter parameter, Type type);

    /// From now on readers of `old` read `replacement` (a value of the new graph). The new value
    /// takes the old one's name when `keep_name` and the name is free.
    void replace(ValueId old, ValueId replacement, bool keep_name = false);

    /// Ends the walk: maps outputs and updates and hands the graph over. The prologue's end follows
    /// the nodes of the old prologue: new nodes that stand before the last of them belong to it.
    Graph take();

  private:
    void note_prologue(ValueId old);

    const Graph& old_;
    Graph new_;
    std::vector<ValueId> map_;  // by old value
    int prologue_ = 0;
};

/// Whether two nodes of one graph compute the same: operator, operands, attributes.
bool same_computation(const Node& a, const Node& b);
std::size_t computation_hash(const Node& node);
/// The hash of a node with other operands than it has.
std::size_t computation_hash(Symbol op, const ValueList& inputs, const Attributes& attributes);

}  // namespace dtnn::compiler
