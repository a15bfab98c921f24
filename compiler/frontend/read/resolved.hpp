#pragma once
/// A job as it was understood: every value with its origin, and one YAML document that loads again
/// to the same job.

#include "compiler/frontend/specs.hpp"

namespace dtnn::compiler {

/// Fills in `values` and `resolved_text`.
void describe_resolved(JobSpec& job);

}  // namespace dtnn::compiler
