#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Moves a residual sum and its relu into the batch norm before them.
///
///     %b, ... = batch_norm_training(%x, ...)    ->  %y, ..., %mask = batch_norm_training(%x, ...,
///     %s = add(%b, %r)                                  %r) {epilogue=relu, mask=true,
///     %y = relu(%s)                                          residual=true}
///
///     %d = relu_backward(%e, %y)                ->  %dx, ..., %dr = batch_norm_backward(%x, %e,
///     %g, %dx, ... = batch_norm_backward(%x, %d, %g, %m, %i)   %m, %i, %mask) {epilogue=relu,
///                                                          mask=true, residual=true}
///
/// The mask holds one bit per element, so that %y need not be kept for backward. Other readers of
/// %d read %dr, which is the same. Without a matching backward there is no mask; without other
/// readers of %d no %dr. After fuse_batch_norm_relu. Must not fire when %b or %s has another
/// reader.
std::optional<Graph> fuse_batch_norm_add_relu(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
