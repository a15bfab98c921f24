#pragma once
/// The parts of softmax and its logarithm that both share: both are normalised along one axis,
/// their gradients follow from the result alone, and they cost the same.

#include "compiler/ops/axis.hpp"

namespace dtnn::compiler {

/// The forward operator; `backward` names the one that its gradient emits on (dst, diff_dst).
OpBuilder channel_distribution(const char* name, const char* backward);
OpBuilder channel_distribution_backward(const char* name);

}  // namespace dtnn::compiler
