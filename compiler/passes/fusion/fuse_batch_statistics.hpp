#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Lets a convolution sum its result and the squares while they are in registers, so that the batch
/// norm after it reads its source once instead of twice.
///
///     %c = conv2d(%x, @w)                          ->  %c, %s = conv2d(%x, @w) {statistics=true}
///     %y, ... = batch_norm_training(%c, @g, ...)       %y, ... = batch_norm_training(%c, @g, ...,
///                                                                            %s) {statistics=true}
///
/// After differentiate; before the fusions of batch norm, which append operands behind the
/// statistics. Must not fire when the convolution has an epilogue or a residual, since then its
/// result is not what was summed. Other readers of %c do not matter.
std::optional<Graph> fuse_batch_statistics(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
