#pragma once

namespace dtnn::compiler {

/// The operators that the passes around batch norm are about, by definition: its two phases and its
/// backward, and the convolution before it.
inline constexpr const char* kTraining = "batch_norm_training";
inline constexpr const char* kInference = "batch_norm_inference";
inline constexpr const char* kBackward = "batch_norm_backward";
inline constexpr const char* kConvolution = "conv2d";

}  // namespace dtnn::compiler
