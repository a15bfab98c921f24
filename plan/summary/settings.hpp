#pragma once
/// How a plan trains, in a few lines: the part of a summary that is about settings.

#include <string>
#include <utility>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// Name and text of each line: the optimizer with the loss and the metrics, always; schedules and
/// what becomes of samples, where there are any.
std::vector<std::pair<std::string, std::string>> summary_settings(const Plan& plan);

}  // namespace dtnn::plan
