#pragma once
/// Whether a plan fits the memory that a rank may use, and if not, what takes it.

#include <functional>

#include "compiler/support/diagnostics.hpp"
#include "plan/plan.hpp"

namespace dtnn::compiler {

/// The budget that asks `recompute` for the smallest memory that it can reach.
inline constexpr std::int64_t kLeastLiveBytes = 1;

struct FittedPlan {
    plan::Plan plan;
    std::int64_t live_bytes = 0;  ///< that it was made with
};

/// The plan that recomputes least in backward among those found to fit `budget` bytes; where none
/// fits, the one that needs least among those tried. `assemble` makes a plan whose values take no
/// more than so many bytes at once, as far as recomputing achieves that; 0: whatever they take. It
/// is asked a dozen times where the plan does not fit as it is and `recomputes` allows to change
/// that.
FittedPlan fit_budget(std::int64_t budget, bool recomputes,
                      const std::function<plan::Plan(std::int64_t live_bytes)>& assemble);

/// Reports `over_budget` when arena and staging together exceed `budget` bytes: both numbers, the
/// layers with the largest share at the step where the most is alive, and the largest batch size
/// that fits. `need_of` gives the bytes for another batch size; it is asked only when the plan does
/// not fit.
void check_budget(const plan::Plan& plan, std::int64_t budget, const Span& span,
                  const std::function<std::int64_t(std::int64_t batch)>& need_of,
                  Diagnostics& diagnostics);

}  // namespace dtnn::compiler
