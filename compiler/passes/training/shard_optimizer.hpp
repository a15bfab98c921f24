#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// With `parallel: {optimizer: sharded}`, makes of the updates of one rank those of all ranks, each
/// of which updates its own part of the weights with its own part of the optimizer's state:
///
///     %a.new, %u = sgd_update(@a, %ga, %learning_rate, @a.velocity)
///     %b.new, %v = sgd_update(@b, %gb, %learning_rate, @b.velocity)
///     update @a = %a.new ... update @b.velocity = %v
/// ->  %a.sent, %b.sent = reduce_scatter_start(%ga, %gb) {collective=gradients_1}
///     %g = reduce_scatter_wait(%a.sent, %b.sent) {collective=gradients_1, part=64}
///     %w = own_part(@a, @b) {collective=weights_1, part=64}
///     %n, %u = sgd_update(%w, %g, %learning_rate, @weights_1.velocity)
///     %s = all_gather_start(%n) {collective=weights_1}
///     %a.new, %b.new = all_gather_wait(%s, @a, @b) {collective=weights_1}
///     update @a = %a.new, update @b = %b.new, update @weights_1.velocity = %u
///
/// A bucket has parameters whose updates are the same operator with the same attributes, in the
/// order in which backward finishes their gradients (reduce_gradients.hpp has their sizes), so that
/// one update over flat memory does what one of each did. Its gradients become one stretch of
/// memory, its parameters another with the same offsets: the members one after the other, each at a
/// multiple of plan::kAlignment, then up to as many equal parts as there are ranks.
///
/// With clip_norm the squares of the own parts are added up over the ranks. The average of the
/// weights (average_weights) is taken of all of them, behind the all_gather.
///
/// After layout, because a part knows nothing of orders: a gradient and its parameter are stored
/// alike, element by element. Before schedule. Must not fire where the optimizer is replicated, nor
/// where gradients are only added up (context.accumulate). The front end refuses optimizers that
/// need norms of whole tensors.
std::optional<Graph> shard_optimizer(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
