#pragma once
/// Pointwise losses that take logarithms of probabilities, over the numbers that the probabilities
/// are made of.

#include <optional>

#include "compiler/ir/graph.hpp"

namespace dtnn::compiler {

/// What makes probabilities p of numbers.
enum class Squash {
    softmax,  ///< along a row; the loss then reads log p, which log_softmax gives
    sigmoid,  ///< each by itself; the loss then reads what the sigmoid read
};

/// The attributes of an elementwise_mean over what `Squash` says, where those given are over (p,
/// t, ...) and the expression takes log(p), log(1 - p) or log1p(-p). A probability that is rounded
/// to 0 has no logarithm, and its slope 1/p is lost behind p's own; of the logarithm both are
/// exact. Nothing for an expression without such a logarithm, for losses with a derivative of their
/// own, and where it would have a part that formula_fault() refuses.
std::optional<Attributes> over_logits(const Attributes& attributes, Squash squash);

}  // namespace dtnn::compiler
