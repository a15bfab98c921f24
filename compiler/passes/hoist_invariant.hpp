#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Moves nodes that depend on parameters only to the front, into the prologue, which runs once
/// before the first batch of a pass over data.
///
///     %y = relu(%x)                              %w = fold_batch_norm(@a, @b, ...)
///     %w = fold_batch_norm(@a, @b, ...)    ->    end prologue
///     %z = conv2d(%y, %w)                        %y = relu(%x)   %z = conv2d(%y, %w)
///
/// After layout, so that reordered weights are hoisted too. Must not fire in training: a step
/// changes the parameters.
std::optional<Graph> hoist_invariant(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
