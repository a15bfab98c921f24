#pragma once
/// Whether batch norm in a training program takes the statistics that Parallel::batch_statistics
/// says.

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// Says what is wrong, each finding one line; empty: sound. With "synchronised" every batch norm of
/// training, forward and backward, takes sums that an exchange between the ranks has ended with;
/// with "local" none does.
std::vector<std::string> audit_statistics(const Plan& plan, const Program& program);

}  // namespace dtnn::plan
