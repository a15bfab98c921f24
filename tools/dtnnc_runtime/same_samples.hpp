#pragma once
/// Whether two plans' datasets, at other paths, hold the same samples: by reading both.

#include <string>
#include <vector>

#include "plan/diff/diff.hpp"
#include "plan/plan.hpp"

namespace dtnn::tools {

/// See RuntimeLibrary::settle_samples.
void settle_samples(const plan::Plan& a, const plan::Plan& b, const std::string& name_a,
                    const std::string& name_b, std::vector<plan::Change>& changes);

}  // namespace dtnn::tools
