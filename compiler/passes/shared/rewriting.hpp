#pragma once
/// The tools of most passes: who reads a value, nodes with inferred types, the patterns of relu.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.hpp"
#include "compiler/ir/rewriter.hpp"

namespace dtnn::compiler {

/// The readers of every value of one graph, among nodes and among the graph's own results.
class Uses {
  public:
    explicit Uses(const Graph& graph);

    std::span<const NodeId> readers(ValueId value) const { return readers_[value.index()]; }
    /// The value is an output of the graph or the next value of a parameter.
    bool leaves(ValueId value) const { return leaves_[value.index()]; }
    bool unread(ValueId value) const { return readers(value).empty() && !leaves(value); }
    /// The one node that reads the value (in any number of its operands); null when there is none,
    /// when there are several, and when the value leaves the graph.
    const Node* only_reader(ValueId value) const;

  private:
    const Graph& graph_;
    Readers readers_;
    std::vector<bool> leaves_;
};

/// Appends a node whose result types follow from its operator. Result 0 is called `name`, result i
/// `prefix` (`name` unless given), a dot and the operator's name of that result. A shape error here
/// is our bug.
ValueList emit(Rewriter& rewriter, Node node, const std::string& name,
               const std::string& prefix = {});

/// The graph without those nodes that `removable` admits and of which no result is read, directly
/// or by other nodes that stay; nothing when all of them stay. Order and names are kept.
std::optional<Graph> remove_unread(const Graph& graph, bool (*removable)(const Node&));

/// Whether a run of the graph leaves other parameters than it found.
bool changes_parameters(const Graph& graph);

/// The output's value, or an invalid id.
ValueId find_output(const Graph& graph, std::string_view name);

/// A sum of two values, whichever of them comes first.
bool is_sum(const Node& node);
/// relu, also where it is written as an elementwise expression.
bool is_relu(const Node& node);
/// relu's backward: operand 0 where operand 1, relu's result, is above zero.
bool is_relu_backward(const Node& node);

}  // namespace dtnn::compiler
