#pragma once
/// Which step of a program executes which layers, read back from the plan.
///
/// A step that computes several layers at once keeps the name of the last of them for its result
/// (batch_norm_1 with its epilogue writes the tensor `relu_1`) and reads values that other steps
/// wrote. The layers of a step are therefore those between the two: from the layer that its result
/// is named after backwards, up to what another step writes. A layer that no step writes and that
/// only gives another view of a value (flatten) belongs to the step that reads it.

#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

struct ExecutedLayers {
    /// By layer: the forward step, an index into Program::steps; -1: none (a layer that does
    /// nothing in this phase, as dropout at inference, or that the compiler found to be another's
    /// double).
    std::vector<int> step_of;
    /// By step: its layers in the order of the layer table; empty for backward and update steps.
    std::vector<std::vector<int>> layers_of;
};

ExecutedLayers executed_layers(const Plan& plan, const Program& program);

}  // namespace dtnn::plan
