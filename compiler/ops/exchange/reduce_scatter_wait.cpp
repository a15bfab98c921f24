#include "compiler/ops/exchange/exchange.hpp"

namespace dtnn::compiler {

/// Operands that the start has made one stretch of memory; the result is the rank's own of as many
/// equal parts of it as there are ranks, one row of `part` numbers.
OpDef define_reduce_scatter_wait() {
    OpDef def = own_part_of(
        plan::operator_of(plan::kReduceScatterWait),
        "Ends an exchange: the result is the rank's own part of the sums over all ranks.");
    def.exchange = plan::kReduceScatterWait;
    return def;
}

}  // namespace dtnn::compiler
