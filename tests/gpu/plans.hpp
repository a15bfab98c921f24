#pragma once
/// Plans of jobs in specs/, as a run gets them.

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::gpu_plans {

/// The job of this name with these settings, compiled for the device and so many ranks, without
/// these passes, through the file's text. Its audit finds nothing.
plan::Plan compiled(const std::string& job, const std::vector<std::string>& settings,
                    const std::string& device, int ranks = 1,
                    const std::vector<std::string>& disabled_passes = {});

}  // namespace dtnn::gpu_plans
