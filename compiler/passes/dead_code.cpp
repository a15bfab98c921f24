#include "compiler/passes/pass.hpp"
#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {

/// Removes nodes of whose results none reaches an output or an update.
///
///     %a = relu(%x)   %b = tanh(%x)   return %a     ->     %a = relu(%x)   return %a
///
/// Inputs and parameters stay: they are what the run is given. Must not fire on a node of which one
/// of several results is read.
std::optional<Graph> dead_code(const Graph& graph, PassContext&) {
    return remove_unread(graph, [](const Node&) { return true; });
}

}  // namespace dtnn::compiler
