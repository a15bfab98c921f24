#pragma once
/// The parts that operators over sequences of labels share: of a sample `steps` rows of
/// predictions, and a row of labels (kernels/arguments/ctc.hpp).

#include "compiler/ops/loss/loss.hpp"

namespace dtnn::compiler {

inline constexpr const char* kSteps = "steps";
inline constexpr const char* kBlank = "blank";

/// Fails unless operand 0 is [N * steps, C], operand 1 i32 [N * room] with room for a label or
/// more, `blank` one of the classes, and the operand `lengths`, where the node has it, an integer
/// for each sample.
bool expect_label_sequences(ShapeContext& c);

/// States that a path of a sample may be in at its steps, of all samples.
std::int64_t path_states(const std::vector<Type>& in, const Attributes& attributes);

}  // namespace dtnn::compiler
