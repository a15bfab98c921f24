#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Moves a relu into the batch norm before it.
///
///     %b, ... = batch_norm_training(%x, ...)    ->  %y, ... = batch_norm_training(%x, ...)
///     %y = relu(%b)                                                        {epilogue=relu}
///
/// and in the backward part, where relu's sign is recomputed from what batch norm reads anyway:
///
///     %d = relu_backward(%e, %y)                ->  %dx, ... = batch_norm_backward(%x, %e, %g, %m,
///     %dx, ... = batch_norm_backward(%x, %d, %g, %m, %i)              %i, %beta) {epilogue=relu}
///
/// Inference forms lose the relu alone. After differentiate, so that a training graph keeps what
/// its backward reads. Must not fire when %b has another reader. The backward part must not fire
/// when %d has another reader; the forward part then still may.
std::optional<Graph> fuse_batch_norm_relu(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
