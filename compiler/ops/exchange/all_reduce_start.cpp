#include "compiler/ops/exchange/exchange.hpp"

namespace dtnn::compiler {

/// Until the wait of the same name nobody may touch the results. The traffic of the exchange is
/// counted here: every element read and written once.
OpDef define_all_reduce_start() {
    return exchange_end(plan::kAllReduceStart,
                        "Begins an exchange: what all ranks have here is to be added up.", true);
}

}  // namespace dtnn::compiler
