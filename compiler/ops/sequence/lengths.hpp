#pragma once
/// Samples of fewer steps than there is room for: rules of `with_lengths` that operators share.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// The flag of a node whose operand `lengths` says how many steps each sample has.
inline constexpr const char* kPadded = "padded";

/// Fails unless the operand `lengths` is an integer for each sample of operand 0; holds where the
/// node does not have it.
bool expect_lengths(ShapeContext& c);

/// The value by that form of mask_steps.
ValueId masked(LengthsContext& c, ValueId value, StepMask form);

/// The same node: a step of its result is made of the same step of its operands alone.
void each_step(LengthsContext& c);

/// The same node, which sees zeros where a sample has no steps; its result has no lengths.
void steps_as_zeros(LengthsContext& c);

}  // namespace dtnn::compiler
