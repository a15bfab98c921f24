#pragma once
/// Lints: warnings about what is sound and probably not meant. README.md.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontend/specs.hpp"

namespace dtnn::compiler {

/// Warns of what is odd in a job, or a model alone, that has no errors.
void lint_job(const JobSpec& job, Diagnostics& diagnostics);
/// The same of a training or a dataset by itself.
void lint_training(const TrainingSpec& training, Diagnostics& diagnostics);
void lint_dataset(const DatasetSpec& dataset, Diagnostics& diagnostics);

/// The codes for which there is a rule, for the test that asks for one of every lint.
std::vector<Code> codes_of_rules();

}  // namespace dtnn::compiler
