#pragma once
/// Layers that two plans have under different names.

#include <map>
#include <string>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// Names of layers of `a` that `b` has under another name, and that name. Only layers whose name
/// the other plan lacks are paired, in order, when operator, attributes, shapes and what they read
/// are the same.
std::map<std::string, std::string> renamed_layers(const Plan& a, const Plan& b);

/// The plan with its layers called so, in every name that a comparison looks at: layers, what they
/// read, parameters and steps.
Plan with_layer_names(const Plan& plan, const std::map<std::string, std::string>& names);

}  // namespace dtnn::plan
