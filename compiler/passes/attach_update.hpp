#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Turns gradients into updates of the parameters.
///
///     return "gradient of w"=%g   ->   %n, %v = sgd_update(@w, %g, %learning_rate, @w.velocity)
///                                      update @w = %n
///                                      update @w.velocity = %v
///
/// Adds the inputs learning_rate (one number of the graph's floating type) and, for Adam, step
/// (i64), and the optimizer's state: parameters "w.velocity" (SGD with momentum), or
/// "w.first_moment" and "w.second_moment" (Adam), zeros of the weights' shape. The outputs
/// "gradient of NAME" are gone afterwards.
/// After differentiate. Must not fire on parameters without a gradient.
std::optional<Graph> attach_update(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
