#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Decides how every tensor with four axes is stored.
///
///     images                             [N,C,H,W]          order {0,2,3,1}: channels last
///     weights of conv2d                  [F,C/groups,KH,KW] order {2,3,1,0}, for CUDA {0,2,3,1}
///     weights of dense over an image     [C,H,W,units]      order {1,2,0,3}
///
/// Gradients, folded weights and optimizer state are stored like their weights. flatten and
/// unflatten are defined on row-major images, so a `reorder` comes before and after them:
///
///     %f = flatten(%x)   ->   %r = reorder(%x) {order=[0,1,2,3]}   %f = flatten(%r)
///
/// Must not fire on flattened images whose channels, or whose height and width, are 1: their bytes
/// are the same in both orders. After every pass that makes nodes or takes shapes for granted.
Graph layout(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
