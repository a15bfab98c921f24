#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Computes again in backward what there is no room to keep (`PassContext::live_bytes`).
///
///     %x = conv2d(...)                          %x = conv2d(...)
///     %y = relu(%x)                             %y = relu(%x)
///     ...                                  ->   ...
///     %g = conv2d_backward_weights(%y, %d)      %y_2 = relu(%x)  ; recompute
///                                               %g = conv2d_backward_weights(%y_2, %d)
///
/// A value that backward reads is dropped: it lives to its last reader of the forward part, and the
/// node that made it runs once more, of the same operands, in front of its first reader behind, so
/// the bits are the same. What such a node reads and nobody has kept is computed again in turn.
/// Moving statistics are moved once: the second node reads the moved ones, or a copy from before
/// where other results depend on them, and what it makes of them is not used. Random numbers follow
/// from their operands, so they are drawn alike. Exchanges between ranks are never repeated.
///
/// Values are dropped one by one, each time the one that costs the least time for its bytes among
/// those alive at the peak, as long as the peak exceeds `live_bytes`, and only where the peak does
/// not grow; a value whose absence does not lower it is kept. After Chen et al., "Training deep
/// nets with sublinear memory cost", 2016, and Jain et al., "Checkmate", 2020, whose objective this
/// is, met by greedy choice. Bytes alive are those of values: two that take one place count once;
/// workspaces of kernels do not count.
///
/// Behind `schedule`: what is alive when is a matter of the order, and nodes that are added here
/// stand in their place.
std::optional<Graph> recompute(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
