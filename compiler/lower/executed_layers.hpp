#pragma once
/// Which step of a program executes which layers, for Step::layers.
///
/// A step that computes several layers at once keeps the name of the last of them for its result
/// (batch_norm_1 with its epilogue writes the tensor `relu_1`) and reads values that other steps
/// wrote. The layers of a step are therefore those between the two: from the layer that its result
/// is named after backwards, up to what another step writes. A layer that no step writes and that
/// only gives another view of a value (flatten) belongs to the step that reads it.

#include <vector>

#include "plan/plan.hpp"

namespace dtnn::compiler {

/// Fills in Step::layers of the program's steps, which are there with their names and tensors.
void note_executed_layers(const std::vector<plan::Layer>& layers, plan::Program& program);

}  // namespace dtnn::compiler
