#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Computes once what several nodes compute alike.
///
///     %a = relu(%x)   %b = relu(%x)   %c = add(%a, %b)    ->    %a = relu(%x)   %c = add(%a, %a)
///
/// Two nodes compute the same when operator, attributes and operands agree; operators are functions
/// of these alone, random ones too. The two operands of a sum may change places.
/// After differentiate, whose rules may emit a node twice. Must not fire on updates: each has its
/// own state.
std::optional<Graph> common_subexpressions(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
