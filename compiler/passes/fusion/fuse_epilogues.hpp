#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Moves what stands behind a product or a normalisation into it, where its operator says that it
/// takes it (`OpDef::takes`): a relu, or a sum and its relu:
///
///     %c = conv2d(%x, @w)           %y = conv2d(%x, @w, %r) {epilogue=relu, residual=true}
///     %s = add(%c, %r)         ->
///     %y = relu(%s)
///
/// A convolution takes a sum in inference alone, where batch norm has been folded into it. The
/// backward of a batch norm recomputes relu's sign from what it reads anyway. With a sum the batch
/// norm keeps one bit per element instead of %y, and other readers of %d read %dr, which is the
/// same:
///
///     %d = relu_backward(%e, %y)               ->  %dx, ... = batch_norm_backward(%x, %e, %g, %m,
///     %dx, ... = batch_norm_backward(%x, %d, %g, %m, %i)           %i, @beta) {epilogue=relu}
///     or, behind a sum,                            %dx, ..., %dr = batch_norm_backward(..., %mask)
///                                                        {epilogue=relu, mask=true, residual=true}
///
/// Any other activation of one operand moves into a batch norm of training together with its
/// slope, on the CPU, where ranks do not share statistics; %z is not stored, for backward makes it
/// again:
///
///     %z, ... = batch_norm_training(%x, ...)   ->  %y, ... = batch_norm_training(%x, ...)
///     %y = silu(%z)                                    {epilogue=expression, expression=...}
///     %d = elementwise(%e, %z)                     %dx, ... = batch_norm_backward(%x, %e, ...,
///     %dx, ... = batch_norm_backward(%x, %d, ...)      @beta) {epilogue=expression, ...}
///
/// The relu's backward that is left masks the gradient where it is made:
///
///     %e = conv2d_backward_data(%d, @w)        ->  %f = conv2d_backward_data(%d, @w, %y)
///     %f = relu_backward(%e, %y)                                               {mask=true}
///
/// max_pool2d_backward is masked by the pool's *result*, of which %y must be the source: the cell
/// that a window chose is above zero exactly when the window's largest is.
///
/// After differentiate, so that backward keeps what it reads, and after fuse_batch_statistics. Must
/// not fire when a value between two of the nodes has another reader, but for %d behind a sum; the
/// forward part may fire without the backward one. fuse_convolution_activation moves the rest.
std::optional<Graph> fuse_epilogues(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
