#pragma once
/// Which layers of two plans are the same layer.
///
/// Names alone do not say it: made names (conv2d_3) are numbers, and an inserted layer shifts all
/// that follow. So layers are aligned as sequences, by what they are; names decide between equals.

#include <string_view>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

struct LayerAlignment {
    std::vector<int> of_a;    ///< by layer of `a`: the layer of `b` that it became, -1: gone
    std::vector<int> of_b;    ///< the reverse, -1: new
    std::vector<bool> moved;  ///< by layer of `b`: it stands elsewhere among the others
};

/// The alignment of greatest worth: a pair of equal type and fields is worth more than two pairs
/// of equal type alone, so that the fewest facts explain the difference (Needleman and Wunsch,
/// 1970); among equals those that keep their names. Layers left over are paired as moved when the
/// same layer stands elsewhere, and as replaced when another type stands in the same place under
/// the same name, or as many layers stand in the same place. Beyond 40 million pairs of layers
/// unique ones anchor the rest, and the result is good rather than best.
LayerAlignment align_layers(const Plan& a, const Plan& b);

/// Whether the two names differ only by the numbers at the ends of their parts, as made names do:
/// basic_2/conv2d_1 and basic_3/conv2d_1.
bool renumbered(std::string_view a, std::string_view b);

}  // namespace dtnn::plan
