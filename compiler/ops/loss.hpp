#pragma once
/// What losses and metrics share. A loss is the root of differentiation: its gradient rule takes
/// the gradient of the loss as 1 and never reads diff(0), so the differentiator needs no constant
/// to start from.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// Fails unless operand 0 is [N,C] and operand 1 is i32 [N].
bool expect_rows_and_labels(ShapeContext& c, const char* op);
/// One scalar of operand 0's dtype.
void result_scalar(ShapeContext& c);

}  // namespace dtnn::compiler
