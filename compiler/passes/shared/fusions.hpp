#pragma once
/// How passes make one node of several.

#include <deque>
#include <optional>
#include <vector>

#include "compiler/ops/op.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {

/// Nodes of the old graph that become one.
struct Fusion {
    Node node;                       ///< what they become, over values of the old graph
    const Node* place = nullptr;     ///< the part in whose place it stands
    std::vector<const Node*> parts;  ///< all of them
    ValueList results;               ///< what its results, in their order, are read instead of
    const Fusion* source = nullptr;  ///< the last result of this one is a last operand
    ValueId last_result{};           ///< in the new graph, once it is written
};

/// The fusions of a graph. A node is part of one at most: the first that was added has it.
class Fusions {
  public:
    explicit Fusions(const Graph& graph);

    const Graph& graph() const { return graph_; }
    const Uses& uses() const { return uses_; }

    /// The node whose first result is operand `operand` of the reader and of nothing else; null:
    /// none.
    const Node* alone_before(const Node& reader, std::size_t operand) const;

    /// `producer`, as it becomes one with `behind`, in whose place it stands and whose result it
    /// gives first.
    static Fusion with(const Node& producer, const Node& behind);

    /// Null, and nothing is added, where another fusion has one of the parts.
    const Fusion* add(Fusion fusion);

    /// The new graph; nothing where no fusion was added.
    std::optional<Graph> write();

  private:
    Fusion*& of(const Node& node) { return of_[std::size_t(&node - graph_.nodes.data())]; }
    void write(Fusion& fusion, Rewriter& rewriter);

    const Graph& graph_;
    const Uses uses_;
    std::deque<Fusion> fusions_;
    std::vector<Fusion*> of_;  // by node
};

/// The node may take what stands behind it along: its operator says so, nothing has been fused into
/// it, and it gives no statistics of what it would write no longer.
bool takes(const Node& node, Epilogue what);

/// Gives the node the epilogue of that expression.
void write_expression(Node& node, std::string postfix);

}  // namespace dtnn::compiler
