#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Moves an activation into the batch norm before it, and its backward into batch norm's backward.
///
///     %z, ... = batch_norm_training(%x, ...)     ->  %y, ... = batch_norm_training(%x, ...)
///     %y = silu(%z)                                             {epilogue=expression,
///     expression=...} %d = elementwise(%e, %z)                   ->  %dx, ... =
///     batch_norm_backward(%x, %e, %g, %m, %dx, ... = batch_norm_backward(%x, %d, %g, %m, %i) %i,
///     %beta) {epilogue=expression, ...}
///
/// %z is not stored: backward makes it again from what it reads anyway. On the CPU, where kernels
/// work the expression out while a chunk is in the first-level cache. Behind the fusions of relu,
/// whose kernels are faster. Must not fire when %z or %d has another reader, or where ranks share
/// statistics.
std::optional<Graph> fuse_batch_norm_activation(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
