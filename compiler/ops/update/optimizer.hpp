#pragma once
/// The parts that optimizer updates share. The formulas stand in kernels/arguments/update.hpp and
/// kernels/arguments/layerwise_update.hpp.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// The attribute as a real, 0 when absent.
double real_or_zero(const Attributes& attributes, const char* name);
/// Fails unless the operand is one number of the dtype.
bool expect_single(ShapeContext& c, std::size_t i, const char* operand, DType dtype);
/// The same of an operand by its name; holds where the node does not have it.
bool expect_single(ShapeContext& c, const char* operand, DType dtype);

/// Begins an operator whose shapes are those that its signature says of updates
/// (base/tensor/signatures.def).
OpBuilder operator_by_signature(const char* name);

/// Likewise an update of weights: its family, weight decay, clipping, a scale of the rate, and no
/// gradient.
OpBuilder update_operator(const char* name);

/// Operations per element that the attributes all updates have ask for: weight decay, clipping.
std::int64_t common_update_flops(const Attributes& attributes);

}  // namespace dtnn::compiler
