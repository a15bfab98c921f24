#pragma once
/// The part of a comparison that looks into programs, step by step. Internal to diff.

#include <vector>

#include "plan/diff.hpp"

namespace dtnn::plan {

/// Fusion, kernels and work of the steps of programs that both plans have. Steps are matched by
/// name. What is the same in several programs (a kernel in training and in evaluation) is told
/// once, with their names; steps of layers that only one plan has are left to the layers.
std::vector<Change> diff_steps(const Plan& a, const Plan& b);

}  // namespace dtnn::plan
