#pragma once
/// The part of a comparison that is about programs: their batches, steps, fusion and kernels.

#include <vector>

#include "plan/diff/layers.hpp"

namespace dtnn::plan {

/// Appends consequences: schedule (batches of the programs), first values (streams of dropout),
/// fusion and kernels. Steps are the same when layer and operator are; those of layers that only
/// one plan has are not told. With `same_computation`, other steps can only come from other fusion
/// or metrics, so they are performance only.
void diff_steps(const Plan& a, const Plan& b, const LayerNames& names, bool same_computation,
                std::vector<Change>& changes);

}  // namespace dtnn::plan
