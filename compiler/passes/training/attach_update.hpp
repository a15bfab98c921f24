#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Turns gradients into updates of the parameters.
///
///     return "gradient of w"=%g   ->   %n, %v = sgd_update(@w, %g, %learning_rate, @w.velocity)
///                                      update @w = %n
///                                      update @w.velocity = %v
///
/// Adds the inputs learning_rate (one number of the graph's floating type) and, for optimizers
/// whose formula counts, update (i64: updates before this one), and the optimizer's state:
/// parameters "w.velocity", "w.first_moment" ... of the weights' shape. Fields of the optimizer are
/// those of the parameter's group where it has one. Clipping by value is an attribute of the
/// updates; the output gradient_scale (clip_gradients) becomes their last operand. The outputs
/// "gradient of NAME" are gone afterwards.
/// After differentiate, accumulate_gradients and clip_gradients. Must not fire on parameters
/// without a gradient, nor where the gradients are only added up (they are no outputs then).
std::optional<Graph> attach_update(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
