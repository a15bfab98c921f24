#pragma once
/// Values that depend on parameters only, and so on no sample.

#include <vector>

#include "compiler/ir/graph.hpp"

namespace dtnn::compiler {

struct Invariant {
    std::vector<bool> values;  ///< by value, parameters among them
    std::vector<bool> nodes;   ///< by node
};
Invariant find_invariant(const Graph& graph);

}  // namespace dtnn::compiler
