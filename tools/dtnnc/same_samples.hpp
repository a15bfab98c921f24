#pragma once
/// Whether two plans' datasets, at other paths, hold the same samples: by reading both.

#include <string>
#include <vector>

#include "plan/diff/diff.hpp"
#include "plan/plan.hpp"

namespace dtnn::tools {

/// Settles the changes that a comparison of plans leaves open (plan::Meaning::unread). Where both
/// datasets are here, they are opened: other samples change the mathematics, the same ones do not.
/// Where one is not, the change stays unknown, and its reason says which and why. `name_a` and
/// `name_b` are what the user called the two sides.
void settle_samples(const plan::Plan& a, const plan::Plan& b, const std::string& name_a,
                    const std::string& name_b, std::vector<plan::Change>& changes);

}  // namespace dtnn::tools
