#pragma once
/// A small sound plan, made by hand: one dense layer trained with a bias and momentum, and its
/// evaluation.

#include "plan/plan.hpp"

namespace dtnn::plan {

Plan sample_plan();
/// The same for two ranks: the gradient of the weights is exchanged between steps 3 and 4.
Plan parallel_sample_plan();

}  // namespace dtnn::plan
