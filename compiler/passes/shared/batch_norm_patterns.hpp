#pragma once
/// What the fusions of batch norm look for.

#include "compiler/ir/graph.hpp"

namespace dtnn::compiler {

/// The operators that the passes around batch norm are about, by definition: its two phases and its
/// backward, and the convolution before it.
inline constexpr const char* kTraining = "batch_norm_training";
inline constexpr const char* kInference = "batch_norm_inference";
inline constexpr const char* kBackward = "batch_norm_backward";
inline constexpr const char* kConvolution = "conv2d";

/// A batch norm of either phase that nothing has been fused into.
bool is_plain_batch_norm(const Node& node);

/// The node is the backward of that batch norm (of training), of the gradient `diff`, and has no
/// relu yet.
bool is_backward_of(const Node& node, const Node& norm, ValueId diff);

}  // namespace dtnn::compiler
