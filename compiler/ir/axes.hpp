#pragma once
/// What the axes of a value mean, and how they lie in memory.

#include <vector>

#include "compiler/ir/pool.hpp"

namespace dtnn::compiler {

/// The axes of a batch of samples with `extents` axes each: [batch, feature], [batch, step,
/// feature], [batch, channel, space, space]. None where the number says nothing.
Axes usual_axes(std::size_t extents);

/// [batch, channel, space, space]: what windows slide over.
bool is_image(const Type& type);
/// [batch, feature]: one list of numbers for each sample.
bool is_rows(const Type& type);

/// The order in which a value of these axes lies unless somebody wishes otherwise: channels behind
/// all others. Empty where that is row-major.
Order usual_order(const Axes& axes);
/// Whether the features of a cell lie side by side, and the cells in the order of their axes.
bool lies_features_last(const Type& type);

}  // namespace dtnn::compiler
