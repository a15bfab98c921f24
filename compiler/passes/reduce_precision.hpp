#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Stores values in 16 bits, or lets convolutions and products round their factors to TF32 or to
/// bfloat16, where the training asks for it (plan::Compute). To bfloat16 those of convolutions
/// without groups and of dense layers, of at least 32 channels and 32 filters (inputs, units):
///
///     %y = conv2d(%x, @w) : f32     ->   %a = cast_narrow(%x), %b = cast_narrow(@w)
///                                        %y = conv2d(%a, %b) : bf16
///     %l = cross_entropy(%y, %t)    ->   %c = cast_wide(%y), %l = cross_entropy(%c, %t)
///
/// Operators that multiply take and give 16 bits. Others that can (PassContext::reduces) do so
/// where an operand has them; the rest read widened operands, and so do the graph's outputs.
/// Parameters, their gradients and statistics stay as they are: weights are rounded once a step.
/// Behind the patterns, which know operators and not what rounds their operands. Must not fire for
/// `full`.
std::optional<Graph> reduce_precision(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
