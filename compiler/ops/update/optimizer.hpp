#pragma once
/// The parts that optimizer updates share. The formulas stand in kernels/arguments/update.hpp and
/// kernels/arguments/layerwise_update.hpp.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// The attribute as a real, 0 when absent.
double real_or_zero(const Attributes& attributes, const char* name);
/// Fails unless the operand is one number of the dtype.
bool expect_single(ShapeContext& c, const char* op, std::size_t i, const char* operand,
                   DType dtype);

/// Begins an operator whose operands and results are those of its signature
/// (base/tensor/signatures.def), which its shape rule asks.
OpBuilder operator_by_signature(const char* name);

/// Likewise an update of weights: its family, weight decay, clipping, a scale of the rate, and no
/// gradient.
OpBuilder update_operator(const char* name);

/// Operations per element that the attributes all updates have ask for: weight decay, clipping.
std::int64_t common_update_flops(const Attributes& attributes);

}  // namespace dtnn::compiler
