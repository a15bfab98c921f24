#pragma once
#include <span>

#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// With data parallelism, adds up the gradients of all ranks, bucket by bucket:
///
///     return "gradient of w"=%g, "gradient of b"=%h
/// ->  %g.sent, %h.sent = all_reduce_start(%g, %h) {collective=gradients_1}  ; communication
///     %w.reduced, %b.reduced = all_reduce_wait(%g.sent, %h.sent) {collective=gradients_1}
///     return "gradient of w"=%w.reduced, "gradient of b"=%b.reduced
///
/// Gradients are put into buckets in the order in which backward finishes them, the deepest layers'
/// first, so that most exchanges run beside the rest of the backward part. All operands of a start
/// become one stretch of memory, which is exchanged in place (lower/in_place.hpp); a gradient that
/// cannot be overwritten - of two parameters, read by another node, or a view - is copied first.
///
/// After accumulate_gradients: ranks exchange the gradient of an update. Before clip_gradients and
/// attach_update, which see the gradient of all ranks. Must not fire without data parallelism, nor
/// with a sharded optimizer (shard_optimizer), nor where gradients are only added up
/// (context.accumulate), nor twice.
std::optional<Graph> reduce_gradients(const Graph& graph, PassContext& context);

/// How gradients of so many bytes, in the order in which they are finished, are put into buckets:
/// for each bucket the index behind its last gradient. A bucket has at most `bucket_bytes`, or one
/// gradient. The last one, whose exchange nothing hides, has at most a quarter of that, unless one
/// bucket is enough for all.
std::vector<std::size_t> bucket_ends(std::span<const std::int64_t> bytes,
                                     std::int64_t bucket_bytes);

}  // namespace dtnn::compiler
