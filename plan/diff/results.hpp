#pragma once
/// The part of a comparison that is about what a whole plan comes to: parameters, first values,
/// data, schedule, memory, communication and work.

#include <vector>

#include "plan/diff/layers.hpp"

namespace dtnn::plan {

/// Consequences: parameters, first values, layouts, data, schedule.
std::vector<Change> diff_results(const Plan& a, const Plan& b, const LayerNames& names);
/// Consequences: work, communication, memory.
std::vector<Change> diff_costs(const Plan& a, const Plan& b);

}  // namespace dtnn::plan
