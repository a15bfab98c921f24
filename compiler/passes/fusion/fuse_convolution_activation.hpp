#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Moves an activation into the convolution before it, which works it out while its results are
/// still in the cache.
///
///     %c = conv2d(%x, @w)           %y = conv2d(%x, @w) {epilogue=expression,
///     %y = silu(%c)            ->                        expression="x0 x0 sigmoid mul"}
///
/// The activation is any elementwise operator, or a chain of them, of that one operand. Behind
/// fold_batch_norm and fuse_epilogues, which leave what they cannot have, and behind
/// fuse_elementwise, which makes one node of a chain. Must not fire when %c has another reader (in
/// training a backward that reads it), when the convolution has an epilogue, a residual or
/// statistics, and for devices, whose libraries know no expressions.
std::optional<Graph> fuse_convolution_activation(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
