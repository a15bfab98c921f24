#pragma once
/// What layers for users mean in terms of the operators that other passes know; part of
/// canonicalize.

#include <vector>

#include "compiler/ir/graph.hpp"

namespace dtnn::compiler {

/// The result is operand 0, number by number: a slice of everything, no padding, the same size.
bool keeps_everything(const Graph& graph, const Node& node);

/// Nodes that stand for the node, each reading the result of the one before it as operand 0; empty
/// when it has no more general form. Operands of the first are values of `graph`.
std::vector<Node> general_form(const Graph& graph, const Node& node);

/// flatten, or a reshape that does what flatten does: images become rows.
bool flattens(const Graph& graph, const Node& node);

}  // namespace dtnn::compiler
