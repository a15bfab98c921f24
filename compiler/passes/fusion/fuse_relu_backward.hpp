#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Moves relu's backward into the node that produced the gradient which it masks.
///
///     %e = conv2d_backward_data(%d, @w)   ->  %f = conv2d_backward_data(%d, @w, %y) {mask=true}
///     %f = relu_backward(%e, %y)
///
/// Likewise for dense_backward_data, and for max_pool2d_backward, which is masked by the pool's
/// *result*: the cell that a window chose is above zero exactly when the window's largest is. For
/// it %y must be the pool's own source. After the fusions of batch norm, which want the mask for
/// themselves. Must not fire when %e has another reader.
std::optional<Graph> fuse_relu_backward(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
