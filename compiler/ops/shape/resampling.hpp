#pragma once
/// Operators whose results are weighted sums of source cells, axis by axis: slice, zero_pad2d,
/// upsample2d, adaptive_avg_pool2d. Their gradients take the same attributes and `source_shape`.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// The gradient: operator `backward` with the forward node's attributes of those names and the
/// source's extents.
void emit_resampling_backward(GradientContext& g, const char* backward,
                              std::initializer_list<const char*> attributes);

/// A backward operator `name`, whose operand must have the extents that `forward` gives for an
/// image of `source_shape`.
OpBuilder resampling_backward(const char* name, const char* forward, const char* doc);

}  // namespace dtnn::compiler
