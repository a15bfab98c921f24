#pragma once
/// The part of a comparison that is about layers: which came, went, moved, got another name, other
/// fields or other sources, and what follows for the layers around them.

#include <string>
#include <unordered_map>
#include <vector>

#include "plan/diff/align_layers.hpp"
#include "plan/diff/diff.hpp"

namespace dtnn::plan {

/// Names of layers of `a` and what `b` calls the same layers; those that are gone, or replaced by
/// another operator, are missing.
using LayerNames = std::unordered_map<std::string, std::string>;
LayerNames names_in_b(const Plan& a, const Plan& b, const LayerAlignment& alignment);

struct LayerDifference {
    std::vector<Change> chosen, consequences;
    bool same_wiring = true;  ///< no layer came, went, changed its type or reads another
};

/// Chosen: layers and connections. Consequences: numbering (made names that count on), connections
/// around what came or went, shapes.
LayerDifference diff_layers(const Plan& a, const Plan& b, const LayerAlignment& alignment);

}  // namespace dtnn::plan
