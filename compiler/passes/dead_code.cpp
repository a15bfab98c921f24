#include "compiler/passes/dead_code.hpp"

#include "compiler/passes/shared/rewriting.hpp"

namespace dtnn::compiler {

std::optional<Graph> dead_code(const Graph& graph, PassContext&) {
    return remove_unread(graph, [](const Node&) { return true; });
}

}  // namespace dtnn::compiler
