#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Replaces operators that mean one thing in training and another in inference.
///
///     training:   batch_norm   ->  batch_norm_training, with updates of the running statistics
///                 dropout      ->  dropout_apply(%x, %step), seeded by the training's seed and a
///                                  stream that is the layer's index (or, when that is taken, the
///                                  next free number from the count of layers on)
///                 max_pool2d, adaptive_max_pool2d   ->  with indices, which backward reads
///                 layer_norm, group_norm            ->  with statistics, likewise
///                 spatial_dropout2d                 ->  spatial_dropout2d_apply, as dropout
///     inference:  batch_norm   ->  batch_norm_inference
///                 dropout, spatial_dropout2d        ->  nothing
///
/// After canonicalize; before everything that looks at these operators. Must not fire on operators
/// that mean the same in both phases.
Graph specialise_phase(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
