#pragma once
/// Operators that are one expression: everything but the documentation follows from it.

#include "compiler/ops/define.hpp"
#include "compiler/ops/expression.hpp"

namespace dtnn::compiler {

/// An operator of one input `x`. `derivative` is over the output: infix over `y`, so that backward
/// keeps y and the source may be overwritten.
OpBuilder elementwise_operator(const std::string& name, const char* infix, const char* derivative);

/// Fails unless all operands have one type, order included.
bool expect_same_types(ShapeContext& c, const char* op);
/// Adds the pairs (0, i) for the first operands; consumers ignore pairs beyond a node's operands.
void in_place_over_all(OpBuilder& builder);

}  // namespace dtnn::compiler
