#pragma once
/// Long drawings beside each other in columns, as a newspaper sets them.

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dtnn::tools {

using Ends = std::pair<std::size_t, std::size_t>;  ///< of an arrow: numbers of nodes

/// The arrows that lead from the foot of a column to the head of the next: none where the longest
/// way through the drawing is short. Nodes are numbered so that arrows lead to larger numbers, and
/// a column ends only where all arrows to what follows come from one node, outside of what `blocks`
/// says is one box (by node the outermost box around it; empty: none).
std::set<Ends> column_breaks(const std::vector<Ends>& arrows,
                             const std::vector<std::string>& blocks);

/// Arrows from the heads of each column to those of the next. Where nobody sees them, they hold the
/// columns in the order in which they are read: Graphviz alone puts them where arrows are short.
std::vector<Ends> column_order(const std::set<Ends>& breaks);

}  // namespace dtnn::tools
