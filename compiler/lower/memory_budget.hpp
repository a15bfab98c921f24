#pragma once
/// Whether a plan fits the memory that a rank may use, and if not, what takes it.

#include "compiler/support/diagnostics.hpp"
#include "plan/plan.hpp"

namespace dtnn::compiler {

/// "287.3 MiB", exact in bytes below one KiB.
std::string bytes_text(std::int64_t bytes);

/// Reports `over_budget` when arena and staging together exceed `budget` bytes: both numbers, the
/// layers with the largest share at the step where the most is alive, and a batch size that would
/// probably fit.
void check_budget(const plan::Plan& plan, std::int64_t budget, const Span& span,
                  Diagnostics& diagnostics);

}  // namespace dtnn::compiler
