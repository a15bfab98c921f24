#include "compiler/ops/exchange/exchange.hpp"

namespace dtnn::compiler {

/// The operand is the rank's own part of a stretch of parameters (own_part). The traffic of the
/// exchange is counted here.
OpDef define_all_gather_start() {
    return exchange_end(plan::kAllGatherStart,
                        "Begins an exchange: all ranks are to get all parts, of which each has its "
                        "own here.",
                        true);
}

}  // namespace dtnn::compiler
