#pragma once
/// `dtnnc explain PLAN`: which kernel each step has, which others there were, and why not those.

#include <string>

#include "plan/plan.hpp"

namespace dtnn::tools {

/// A paragraph for every kernel and problem, with the number of steps that share it; with `word`
/// only those of steps, layers, operators and kernels whose names hold it. Empty: there is none.
std::string explain_plan_text(const plan::Plan& plan, const std::string& word);
/// The same as one JSON document.
std::string explain_plan_json(const plan::Plan& plan, const std::string& word);

/// The gain of other mathematics on the plan's machine, by the rates that were measured there:
/// `compute: bf16_products`. Empty: nothing, or nothing is known.
std::string precision_advice(const plan::Plan& plan);

}  // namespace dtnn::tools
