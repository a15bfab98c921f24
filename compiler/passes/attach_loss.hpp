#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Adds what a model is trained and measured by.
///
///     return predictions=%p   ->   %loss = categorical_cross_entropy(%p, %labels)
///                                  %categorical_accuracy = categorical_accuracy(%p, %labels)
///                                  return %loss, %categorical_accuracy
///
/// The loss is the training's: negative_log_likelihood takes logarithms of probabilities.
///
/// `labels` is a new input, i32 [N]. mean_squared_error compares with the labels as one-hot rows.
/// Predictions that are an image [N,C,H,W] are taken as a row for each pixel, labels as i32
/// [N*H*W]:
///
///     %p = softmax(%x: T[N,C,H,W])                    ->  %r = pixels_to_rows(%x)
///     return predictions=%p                               %p = softmax(%r)     or log_softmax
///
/// Predictions are no longer an output: nobody reads them in these programs.
/// First in the pipeline. Must not fire for the program "predict", nor when there is a loss.
std::optional<Graph> attach_loss(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
