#pragma once
/// The part of a comparison that is about settings: the resolved specs but for layers, and what the
/// command line decided.

#include <vector>

#include "plan/diff/diff.hpp"

namespace dtnn::plan {

/// Chosen: settings, target, passes, compiler. Consequences: settings whose defaults differ, and
/// what of the target follows from a setting. A plan without resolved specs (made by a test) is
/// compared by its own fields.
std::vector<Change> diff_settings(const Plan& a, const Plan& b);

}  // namespace dtnn::plan
