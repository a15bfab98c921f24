#include "compiler/ops/exchange/exchange.hpp"

namespace dtnn::compiler {

OpDef define_all_reduce_wait() {
    return exchange_end(plan::kAllReduceWait,
                        "Ends an exchange: the results are the sums over all ranks.", false);
}

}  // namespace dtnn::compiler
