#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Gives every computation one form, so that later passes look for one.
///
///     %p = softmax(%x)                                ->  %l, %p = softmax_cross_entropy(%x, %t)
///     %l = categorical_cross_entropy(%p, %t)
///     %f = flatten(%x: T[N,C,H,W])                    ->  %d = dense(%x, @w: T[C,H,W,units])
///     %d = dense(%f, @w: T[C*H*W,units])
///     %p = log_softmax(%x)                            ->  %l, %p = softmax_cross_entropy(%x, %t)
///     %l = negative_log_likelihood(%p, %t)                when only accuracies read %p too
///     %p = sigmoid(%x)                                ->  %l = elementwise_mean(%x, %t) of
///     %l = elementwise_mean(%p, %t) of                    binary_cross_entropy_with_logits
///          binary_cross_entropy
///     %y = layer_norm(%x, @g: T[C,H,W], ...)          ->  %y = layer_norm(%x, @g: T[1,C,H,W], ...)
///     %y = depthwise_conv2d(%x: T[N,C,H,W], @w)       ->  %y = conv2d(%x, @w) {groups=C}
///     %p = zero_pad2d(%x)                             ->  %y = conv2d(%x, @w) {padding=...}
///     %y = conv2d(%p, @w)
///     %y = reshape(%x)                                ->  %r = flatten(%x)
///                                                         %y = unflatten(%r)
///     %y = global_max_pool2d(%x)                      ->  %y = adaptive_max_pool2d(%x)
///     %y = adaptive_max_pool2d(%x)                    ->  %y = max_pool2d(%x), where all windows
///                                                         are alike; so with averages
///     %y = multiply(%x: T[N,C,H,W], %g: T[N,C,1,1])   ->  %y = channel_scale(%x, %g)
///
/// Identities, dropout of rate 0, 1x1 pools of stride 1, sums, products and concatenations of one
/// operand, flattened rows, the second of two relus, and slices, paddings, sizes and shapes that
/// change nothing are removed. A parameter keeps the shape that users know. After attach_loss. Must
/// not fire on a flatten whose dense shares its weights with another kind of reader, nor on a
/// softmax over anything but the rows [N,C] of the loss.
Graph canonicalize(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
