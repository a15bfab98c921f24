#pragma once
/// Appending a node whose result types come from the operator's shape rule.

#include <optional>

#include "compiler/ops/op.hpp"

namespace dtnn::compiler {

/// Infers result types, or says why it cannot. Resolves attributes in place (padding).
std::optional<ShapeError> infer(const OpDef& op, const std::vector<Type>& inputs, Attributes& attributes,
                                std::vector<Type>& results);

/// Appends `node` with inferred types; a shape error here is our bug. Returns the results.
std::vector<ValueId> emit(Graph& graph, Node node, const std::string& name);

/// The cost of a node of the graph.
Cost cost_of(const Graph& graph, const Node& node);

}  // namespace dtnn::compiler
