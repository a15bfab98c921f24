#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Moves an inference batch norm into the weights of the convolution before it.
///
///     %c = conv2d(%x, @w)                       ->  %w2, %b2 = fold_batch_norm(@w, @g, @b, @m, @v)
///     %y = batch_norm_inference(%c, @g, @b, @m, @v)   %y = conv2d(%x, %w2, %b2) {bias=true}
///
/// The fold depends on parameters only, so hoist_invariant moves it before the first batch.
/// After specialise_phase, before the fusions that give either node an epilogue. Must not fire when
/// the convolution has another reader or an epilogue, nor when the batch norm has one.
std::optional<Graph> fold_batch_norm(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
