#include "compiler/ops/exchange/exchange.hpp"

namespace dtnn::compiler {

/// The traffic of the exchange is counted here, as that of all_reduce_start.
OpDef define_reduce_scatter_start() {
    return exchange_end(plan::kReduceScatterStart,
                        "Begins an exchange: every rank is to get the sums over all ranks of its "
                        "own part of what they have here.",
                        true);
}

}  // namespace dtnn::compiler
