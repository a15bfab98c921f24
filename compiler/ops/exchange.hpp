#pragma once
/// What the two ends of an exchange between ranks share.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// Any number of operands of one type of numbers, and the attribute "collective", the exchange's
/// name; result i has the type of operand i and takes its place. One of the two ends accounts for
/// the memory traffic.
OpDef exchange_end(std::string name, std::string doc, bool counts_traffic);

}  // namespace dtnn::compiler
