#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// With accumulation, adds up gradients over batches in parameters "w.gradient_sum". Backward has
/// begun with each batch's share of the update (differentiate), so the total is the gradient of the
/// mean over all samples, whatever the batches' sizes. Shares by the weights of labels are added up
/// alike, in "share.gradient_sum".
///
///     a batch whose gradients a later update takes (context.accumulate):
///     return "gradient of w"=%g  ->  %s = accumulate_gradient(@w.gradient_sum, %g)
///                                    update @w.gradient_sum = %s
///
///     the last batch of an update:
///     return "gradient of w"=%g  ->  %s, %t = take_gradient_sum(@w.gradient_sum, %g)
///                                    update @w.gradient_sum = %s     (zeros)
///                                    return "gradient of w"=%t
///
/// After differentiate. Must not fire without accumulation.
std::optional<Graph> accumulate_gradients(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
