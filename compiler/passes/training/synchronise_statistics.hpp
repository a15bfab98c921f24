#pragma once
#include "compiler/passes/pass.hpp"

namespace dtnn::compiler {

/// With data parallelism and `batch_statistics: synchronised`, lets batch norm take the statistics
/// of the batches of all ranks, and its gradient with them
/// (kernels/arguments/batch_norm_synchronised.hpp):
///
///     %y, %m, %i, ... = batch_norm_training(%x, @g, @b, @rm, @rv)
/// ->  %y.sums = batch_norm_sums(%x, @rm, %batch_weight)
///     %y.sums.sent = all_reduce_start(%y.sums) {collective=bn.statistics, statistics=true}
///     %y.sums.reduced = all_reduce_wait(%y.sums.sent) {collective=bn.statistics, statistics=true}
///     %y, %m, %i, ... = batch_norm_training(%x, @g, @b, @rm, @rv, %y.sums.reduced)
///                                                          {statistics=true, synchronised=true}
///
///     %dx, %dg, %db = batch_norm_backward(%x, %d, @g, %m, %i)  ; backward
/// ->  %dx.sums, %dg, %db = batch_norm_backward_sums(%x, %d, @g, %m, %i, %batch_weight)  ; backward
///     ... exchanged as bn.gradient_statistics ...
///     %dx = batch_norm_backward_apply(%x, %d, @g, %m, %i, %dx.sums.reduced,
///                                                               %batch_weight)  ; backward
///
/// %dg and %db stay the rank's own: they are gradients of parameters, and are added up with the
/// others. Statistics that a convolution has summed are passed on. Where nobody reads %dx there is
/// no exchange for it.
///
/// After every fusion of batch norm, whose relus and sums of branches come along. Must not fire for
/// one rank, nor with local statistics, nor twice.
std::optional<Graph> synchronise_statistics(const Graph& graph, PassContext& context);

}  // namespace dtnn::compiler
