#pragma once
/// The part of the audit about ranks that move weights of their own. Internal to audit().

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// With local steps: training programs exchange nothing; the program "synchronise" weighs each
/// parameter that they change, optimizer states apart, by its input of the role share, adds it up
/// over the ranks in one exchange, puts the sum into the same parameter, and touches no other.
/// Without: there is no such program, and the settings are those of a plan that has none.
/// References must have been checked.
std::vector<std::string> audit_local_steps(const Plan& plan);

}  // namespace dtnn::plan
