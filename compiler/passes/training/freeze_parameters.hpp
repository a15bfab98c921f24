#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Makes the parameters of groups with `frozen: true` untrainable.
///
///     @conv2d_1.weights: f32[8,3,3,3]   ->   @conv2d_1.weights: f32[8,3,3,3] frozen
///
/// They then get no gradient, no update, no optimizer's state and no average, and the backward part
/// below the lowest trainable parameter is never made. The statistics of a batch norm with frozen
/// gamma and beta go on moving in training. In every program, because all agree about what
/// parameters are; before differentiate. Must not fire where no group freezes.
std::optional<Graph> freeze_parameters(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
