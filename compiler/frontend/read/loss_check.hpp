#pragma once
/// The rules between a training's loss and metrics, the dataset's labels and the model's end.

#include "compiler/frontend/specs.hpp"

namespace dtnn::compiler {

/// The loss and the metrics can be taken of the dataset's labels, and weights are as many as
/// classes.
void check_labels(const JobSpec& job, Diagnostics& diagnostics);

/// The model ends in what the loss takes. A cross-entropy is the logarithm of a probability: of
/// anything else it is a number without meaning, which training would still make smaller. The end
/// is the last layer that is more than another shape of its input.
void check_model_end(const JobSpec& job, Diagnostics& diagnostics);

}  // namespace dtnn::compiler
