#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Moves a relu whose only producer is a convolution, plain or transposed, or a dense layer into
/// that producer's epilogue.
///
///     %c = conv2d(%x, @w)           %y = conv2d(%x, @w) {epilogue=relu}
///     %y = relu(%c)            ->
///
///     %c = conv2d(%x, @w)           %y = conv2d(%x, @w, %r) {epilogue=relu, residual=true}
///     %s = add(%c, %r)         ->
///     %y = relu(%s)
///
/// The second form is for inference, where batch norm has been folded into the convolution.
/// After differentiate, whose backward of relu reads %y, not %c, and after the fusions of batch
/// norm. Must not fire when %c (or %s) has another reader, nor when the producer gives statistics.
std::optional<Graph> fuse_relu(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
