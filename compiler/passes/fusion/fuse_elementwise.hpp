#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Composes chains of elementwise nodes into one expression, so that they are one loop.
///
///     %s = add(%a, %b)   %y = relu(%s)      ->      %y = elementwise(%a, %b)
///                                                          {expression="x0 x1 add 0 max"}
///
/// Bounded: at most 8 operands and 64 tokens, and an expression that the reader uses more than once
/// is only copied when it is a single operation. Last of the fusions, so that the specific ones
/// find their patterns. Must not fire when the inner result has another reader, nor across phases:
/// a forward value that backward reads is not computed later.
std::optional<Graph> fuse_elementwise(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
