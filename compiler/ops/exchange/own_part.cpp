#include "compiler/ops/exchange/exchange.hpp"

namespace dtnn::compiler {

/// Parameters become one stretch of memory, in the order of the operands; the result is the rank's
/// own of as many equal parts of it as there are ranks. No step runs: it is the same bytes.
OpDef define_own_part() {
    OpDef def = own_part_of(kOwnPart, "The part of several parameters that a rank updates.");
    def.view = View::always;
    def.own_part = true;
    return def;
}

}  // namespace dtnn::compiler
