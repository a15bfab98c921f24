#pragma once
/// What optimizer updates share.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// The attribute as a real, 0 when absent.
double real_or_zero(const Attributes& attributes, const char* name);
/// Fails unless the operand has the weights' extents (operand 0).
bool expect_like_weights(ShapeContext& c, const char* op, std::size_t i, const char* operand);
/// Fails unless the operand is one number of the dtype.
bool expect_single(ShapeContext& c, const char* op, std::size_t i, const char* operand,
                   DType dtype);

}  // namespace dtnn::compiler
