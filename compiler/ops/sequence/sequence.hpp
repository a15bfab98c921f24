#pragma once
/// What operators on sequences share.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// [batch, step, feature]
bool is_sequence(const Type& type);
/// Fails unless operand i is one; the texts are for users.
bool expect_sequence(ShapeContext& c, std::size_t i = 0);

/// The features of one step of a sequence, the first or the last: first_step, last_step.
OpBuilder one_step(const char* name, bool last);

/// The flag of a node whose operand `place` says at which step of its text the first of its input's
/// comes.
inline constexpr const char* kPlaced = "placed";

/// A rule for one step of an operator that depends on the step's place: the same node with that.
void next_of_placed(StepContext& c);

/// The base of the angles by which steps are told apart.
Field base_field();

}  // namespace dtnn::compiler
