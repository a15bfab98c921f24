#pragma once
/// The settings of the training's parameter groups for a parameter: the first group whose pattern
/// matches its name counts, and nothing else does.

#include <string>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// Null when no group matches.
const ParameterGroup* group_of(const Training& training, const std::string& parameter);

bool group_freezes(const Training& training, const std::string& parameter);

/// The optimizer's attributes with the group's in their place.
Attributes optimizer_attributes_of(const Training& training, const std::string& parameter);

/// The factor of a batch's learning rate for the parameter: the group's `learning_rate_scale`, so
/// that schedules act on every group.
double learning_rate_scale_of(const Training& training, const std::string& parameter);

}  // namespace dtnn::plan
