#pragma once
/// The part of the audit that is about exchanges between ranks.

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// Says what is wrong, one sentence each; empty when all is well. Total, as `audit` is.
///
/// Every exchange has a start and a wait behind it, of its own; exchanges are listed in the order
/// of their starts; the stretch lies in a transient buffer of the program that is alive from the
/// start to the wait, holds whole elements and all operands, and no step between the two has an
/// operand in it. In a plan with data parallelism every trainable parameter that a step of phase
/// "update" writes has its gradient in exactly one exchange of the program, which has the input
/// "batch_weight"; without, there is no exchange. Statistics of batch norm that are to be
/// synchronised are: no step takes those of one rank.
std::vector<std::string> audit_collectives(const Plan& plan);

}  // namespace dtnn::plan
