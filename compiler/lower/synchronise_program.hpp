#pragma once
/// The program by which ranks that move weights of their own (plan/rules/local_steps.hpp) become
/// one again.

#include <cstdint>

#include "compiler/ir/graph.hpp"

namespace dtnn::compiler {

/// Makes every parameter that `train` changes the sum over all ranks of its values times the
/// input of the role share of each rank: weights, moving statistics and moving averages of weights.
/// The optimizer's state, and what nothing changes, stay each rank's own.
///
///     %w.share = weigh_gradient(@w, %share)
///     %w.sent, ... = all_reduce_start(%w.share, ...) {collective=weights_1}
///     %w.mean, ... = all_reduce_wait(%w.sent, ...) {collective=weights_1}
///     @w <- elementwise(%w.mean) {expression=x0}
///
/// in exchanges of at most `bucket_bytes`. Those behind are weighed while the first are under way;
/// with `blocking` each is waited for at once. Parameters are stored as `train`, after all passes,
/// has them.
Graph synchronise_graph(const Graph& train, std::int64_t bucket_bytes, bool blocking);

}  // namespace dtnn::compiler
