#pragma once
/// How much of the model's input one cell of each layer's result depends on.

#include <array>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// By layer: height and width in cells of the model's input, along the path on which it is
/// largest. It is not clipped to the image: near the border part of it is padding. Statistics of
/// normalisation are not counted.
std::vector<std::array<std::int64_t, 2>> receptive_fields(const Plan& plan);

}  // namespace dtnn::plan
