#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Stores weights that depend on parameters only in the blocks in which the kernel reads them, so
/// that it need not do so in every batch.
///
///     %y = conv2d(%x, @w)      ->     %p = pack_weights(@w) {axis=0, block=48}
///                                     %y = conv2d(%x, %p) {packed=[96,48]}
///
/// After layout, which decides how weights are stored, and after what rounds them; in front of
/// hoisting, which puts the packing before the first batch. Must not fire where the kernel that
/// the node would have reads weights as they are, in training, and on weights that depend on
/// samples.
std::optional<Graph> pack_weights(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
