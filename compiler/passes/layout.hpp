#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// Decides how every value is stored, by what operators wish (`Wish` and `StoredWeights` of
/// ops/op.hpp): with its channels last unless a reader or its producer has a wish, and alike where
/// it is to lie as another value does.
///
///     images                             [N,C,H,W]          order {0,2,3,1}: channels last
///     parameters that are like a sample  [1,C,H,W]          likewise
///     weights of conv2d                  [F,C/groups,KH,KW] order {2,3,1,0}, for CUDA {0,2,3,1}
///     weights of dense over an image     [C,H,W,units]      order {1,2,0,3}
///
/// Gradients, folded weights and optimizer state are stored like their weights. flatten reads and
/// unflatten gives row-major values, so a `reorder` comes before and after them:
///
///     %f = flatten(%x)   ->   %r = reorder(%x) {order=[0,1,2,3]}   %f = flatten(%r)
///
/// Must not fire on flattened images whose channels, or whose height and width, are 1, nor on
/// flattened sequences: their bytes are the same in both orders. After every pass that makes nodes
/// or takes shapes for granted.
Graph layout(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
