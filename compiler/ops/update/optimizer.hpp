#pragma once
/// The parts that optimizer updates share. The formulas stand in kernels/arguments/update.hpp and
/// kernels/arguments/layerwise_update.hpp.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// The attribute as a real, 0 when absent.
double real_or_zero(const Attributes& attributes, const char* name);
/// Fails unless the operand has the weights' extents (operand 0).
bool expect_like_weights(ShapeContext& c, const char* op, std::size_t i, const char* operand);
/// Fails unless the operand is one number of the dtype.
bool expect_single(ShapeContext& c, const char* op, std::size_t i, const char* operand,
                   DType dtype);

/// An operand of an update behind weights, diff and learning_rate: a state of the weights' extents,
/// a state of one number, or the count of updates.
struct UpdateOperand {
    enum Kind { state, number, count };
    const char* name;
    Kind kind = state;
};

/// The shape rule of updates: operands weights, diff, learning_rate, `others`, and, when the
/// attribute `scaled` is set, the scale of the gradients; results: the weights and every state.
void update_shape(ShapeContext& c, const char* op, const std::vector<UpdateOperand>& others);

/// Begins an update of weights: its family, weight decay, clipping, a scale of the rate, and no
/// gradient.
OpBuilder update_operator(const char* name);

/// Operations per element that the attributes all updates have ask for: weight decay, clipping.
std::int64_t common_update_flops(const Attributes& attributes);

}  // namespace dtnn::compiler
