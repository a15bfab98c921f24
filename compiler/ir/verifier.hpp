#pragma once
/// Structural checks of a graph; run after every pass. Shapes are checked against the operators'
/// rules elsewhere (ops/check_types.hpp), since the graph does not know operators.

#include <string>
#include <vector>

#include "compiler/ir/graph.hpp"

namespace dtnn::compiler {

/// Says what is wrong with the graph, one sentence each; empty when it is sound. Checked: ids are
/// valid; nodes stand in topological order; every result has exactly one producer; names are
/// unique; inputs and parameters are listed once; an update names a parameter, once, with a value
/// of the same type; prologue nodes read no graph input. Values that nobody reads are allowed.
std::vector<std::string> verify(const Graph& graph);

}  // namespace dtnn::compiler
