#pragma once
/// Which plan a training follows.

#include <string>

#include "plan/plan.hpp"
#include "tools/dtnn_run/commands.hpp"

namespace dtnn {

/// The plan to train by: the one that is given, or the run's own. Both: they must be the same, or
/// differ in nothing but how ranks share the work.
std::string plan_path(const Options& options, int ranks);

/// Whether only a checkpoint knows how many ranks a run of the plan has.
bool for_any_ranks(const plan::Plan& plan);

}  // namespace dtnn
