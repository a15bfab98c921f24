#pragma once
/// The steps that backward computes again for want of memory, by a plan.

#include <cstdint>
#include <string>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// Figures of the training program.
struct Recomputed {
    std::int64_t steps = 0;   ///< that run once more
    std::int64_t flops = 0;   ///< of those
    std::int64_t others = 0;  ///< flops of all other steps
};

Recomputed recomputed(const Plan& plan);

/// "7 steps (+11 % FLOPs)"; "none" where nothing is.
std::string recomputed_text(const Recomputed& recomputed);

}  // namespace dtnn::plan
