#pragma once
/// The part of a comparison that is about what a whole plan comes to: parameters, first values,
/// data, schedule, memory, communication and work.

#include <vector>

#include "plan/diff/layers.hpp"

namespace dtnn::plan {

/// Appends consequences: parameters, first values, layouts, data, schedule.
void diff_results(const Plan& a, const Plan& b, const LayerNames& names,
                  std::vector<Change>& changes);
/// Appends consequences: work, communication, memory.
void diff_costs(const Plan& a, const Plan& b, std::vector<Change>& changes);

}  // namespace dtnn::plan
