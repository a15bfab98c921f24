#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Orders the nodes. The result is the order in which a program runs.
///
///     %g = dense_backward_weights(%x, %d)       %g = dense_backward_weights(%x, %d)
///     %e = dense_backward_data(%d, @w)      ->  %e = dense_backward_data(%d, @w)
///     ...                                       %n = sgd_update(@w, %g, %learning_rate)
///     %n = sgd_update(@w, %g, %learning_rate)   ...
///
/// List scheduling by one key per node, O(edges log nodes), deterministic:
/// - an update runs as soon as its gradient is there and every other reader of what it overwrites
///   has run, so a gradient lives for a moment only;
/// - a gradient of weights runs before the gradient of data beside it when it frees at least as
/// many
///   bytes (the kept activation) as it writes, and after it otherwise;
/// - an exchange between ranks starts as soon as the last of its gradients is there, and is waited
///   for behind the whole backward part, one after the other in the order of the starts; what reads
///   it runs between two waits, while later exchanges go on. With `parallel: {reduction: blocking}`
///   it starts behind the backward part too, and is waited for at once. Gradients of weights then
///   keep their place, because one that is moved for memory holds up its exchange. Both are
///   followed by all ranks alike, because starts and waits keep their order;
/// - exchanges of batch statistics keep an order of their own, as layers wait for them: a gradient
///   of weights runs behind the next start of one, and hides it;
/// - everything else keeps its order: forward as written, backward in reverse.
///
/// The prologue stays as it is. Nothing may move nodes afterwards. Required even where the
/// order stays, because it puts every reader of a state before the node that overwrites it.
std::optional<Graph> schedule(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
