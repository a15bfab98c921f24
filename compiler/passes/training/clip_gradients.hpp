#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Works out the factor that all gradients are multiplied by. With clip_norm in two phases: the sum
/// of squares of each, then one number made of all the sums. Where labels have weights, gradients
/// are sums over batches by these (kBatchShare), and the factor divides by the sum of the shares.
///
///     return "gradient of w"=%g  ->  %s = gradient_square_sum(%g)        (of every gradient)
///                                    %f = gradient_scale(%s, ...) {clip_norm=1}
///                                    return "gradient of w"=%g, "gradient_scale"=%f
///
/// attach_update makes the factor an operand of the updates. Clipping by value is an attribute of
/// updates and needs no pass. After accumulate_gradients, because what is clipped is the gradient
/// of the update. Must not fire without clip_norm or shares, nor where no update follows
/// (context.accumulate).
std::optional<Graph> clip_gradients(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
