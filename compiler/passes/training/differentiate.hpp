#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Reverse-mode differentiation of the output "loss".
///
///     %d = dense(%x, @w)        %d = dense(%x, @w)
///     %loss = f(%d)        ->   %loss = f(%d)
///     return %loss              %d.diff = f_backward(...)  ; backward
///                               %d.diff_weights = dense_backward_weights(%x, %d.diff)  ; backward
///                               return %loss, "gradient of w"=%d.diff_weights
///
/// Nodes are visited from the last to the first; the rule of each operator (ops/) emits its
/// backward nodes, which take phase backward and the layer and place of their forward node. A value
/// that several nodes read has the sum of their gradients, one `add` over all of them. Gradients
/// are made only where a trainable parameter is reachable. attach_update consumes the outputs
/// "gradient of NAME".
///
/// Where an update takes several batches, of ranks or accumulated, backward begins with the loss's
/// gradient times the input batch_weight (one number: the batch's share of the samples of an
/// update), so that every gradient of parameters is weighted: backward is linear in it, and it is
/// the smallest gradient of all.
///     %loss.diff_predictions = ...
///     %loss.weighted_diff = weigh_gradient(%loss.diff_predictions, %batch_weight)  ; backward
///
/// Where labels have weights, the loss is a mean by these, and so must be the batch's share, whose
/// sum over all batches is known last: backward begins with label_share(%labels, %batch_weight),
/// which is the output kBatchShare too, and clip_gradients divides by the sum of all batches'.
///
/// After specialise_phase (abstract operators have no gradient) and before every fusion. Must not
/// fire twice, nor without a loss.
std::optional<Graph> differentiate(const Graph& graph, PassContext& context);

/// The name under which differentiate hands a parameter's gradient to attach_update.
std::string gradient_output(const std::string& parameter);

}  // namespace dtnn::compiler
