#pragma once
/// What the fusions of batch norm look for.

#include "compiler/ir/graph.hpp"

namespace dtnn::compiler {

/// A batch norm of either phase that nothing has been fused into.
bool is_plain_batch_norm(const Node& node);

/// The node is the backward of that batch norm (of training), of the gradient `diff`, and has no
/// relu yet.
bool is_backward_of(const Node& node, const Node& norm, ValueId diff);

}  // namespace dtnn::compiler
