#pragma once
/// Whether a plan fits the memory that a rank may use, and if not, what takes it.

#include <functional>

#include "compiler/support/diagnostics.hpp"
#include "plan/plan.hpp"

namespace dtnn::compiler {

/// Reports `over_budget` when arena and staging together exceed `budget` bytes: both numbers, the
/// layers with the largest share at the step where the most is alive, and the largest batch size
/// that fits. `need_of` gives the bytes for another batch size; it is asked only when the plan does
/// not fit.
void check_budget(const plan::Plan& plan, std::int64_t budget, const Span& span,
                  const std::function<std::int64_t(std::int64_t batch)>& need_of,
                  Diagnostics& diagnostics);

}  // namespace dtnn::compiler
