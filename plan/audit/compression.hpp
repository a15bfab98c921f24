#pragma once
/// The auditor's part about exchanges whose numbers travel in fewer bytes.

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// Says what is wrong with the forms of the plan's exchanges; empty: nothing. Checked: exchanges of
/// gradients travel as Parallel::wire says, and others as they are; such an exchange is a sum of
/// f32, with memory of its own from its start to its end, as much as its form needs; and one of
/// top_k has a residual of its own, as many numbers as it has, by rank and in checkpoints. The plan
/// has been read by read_plan, so its indices are sound.
std::vector<std::string> audit_compression(const Plan& plan);

}  // namespace dtnn::plan
