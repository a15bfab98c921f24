#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Adds what a model is trained and measured by: the losses of losses.def, the metrics of
/// plan/metrics.def.
///
///     return predictions=%p   ->   %loss = categorical_cross_entropy(%p, %labels)
///                                  %categorical_accuracy = categorical_accuracy(%p, %labels)
///                                  return %loss, %categorical_accuracy
///
///     a pointwise loss        ->   %targets = one_hot(%labels)
///                                  %loss = elementwise_mean(%p, %targets) {expression=...}
///
/// `labels` is a new input, i32 [N]; or `targets` is one, T [N,C], where samples have any number of
/// classes, or values, or (context.soft_labels) shares of classes. Predictions that are an image
/// [N,C,H,W] are taken as a row for each pixel, labels as i32 [N*H*W], targets as [N*H*W,C].
/// Where samples are their own labels (LabelKind::input) the targets are the input `source` as such
/// rows, or flattened.
/// The layer that the loss joins (a column of losses.def) goes behind the rows:
///
///     %p = softmax(%x: T[N,C,H,W])                    ->  %r = pixels_to_rows(%x)
///     return predictions=%p                               %p = softmax(%r)
///
/// Where some labels do not count (context.ignores_labels) and classes have no weights, these are
/// all 1, so that means are over the labels that count.
/// Outputs are the loss, `loss_weight` where labels have weights (the sum of the batch's),
/// `counted_labels` where some do not count (how many do), and what plan::metric_output names for
/// each metric; predictions only where a metric reads all of them, in evaluation. Metrics with a
/// threshold see probabilities: of a loss that takes logits, the sigmoid of the predictions. First
/// in the pipeline. Must not fire for programs that predict, nor when there is a loss.
std::optional<Graph> attach_loss(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
