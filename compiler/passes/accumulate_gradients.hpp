#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// With accumulation, adds up gradients over batches in parameters "w.gradient_sum", each batch by
/// the input batch_weight (one number of the graph's floating type): its share of the samples of
/// the update. The total is then the gradient of the mean over all of them, whatever the batches'
/// sizes.
///
///     a batch whose gradients a later update takes (context.accumulate):
///     return "gradient of w"=%g  ->  %s = accumulate_gradient(@w.gradient_sum, %g, %batch_weight)
///                                    update @w.gradient_sum = %s
///
///     the last batch of an update:
///     return "gradient of w"=%g  ->  %s, %t = take_gradient_sum(@w.gradient_sum, %g,
///                                                               %batch_weight)
///                                    update @w.gradient_sum = %s     (zeros)
///                                    return "gradient of w"=%t
///
/// After differentiate. Must not fire without accumulation.
std::optional<Graph> accumulate_gradients(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
