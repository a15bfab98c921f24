#pragma once
/// What the two ends of an exchange between ranks share.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

inline constexpr const char* kOwnPart = "own_part";

inline constexpr const char* kNotDifferentiated = "gradients are exchanged, not differentiated";

/// Any number of operands of one type of numbers, and the attribute "collective", the exchange's
/// name; result i has the type of operand i and takes its place. One of the two ends accounts for
/// the memory traffic.
OpDef exchange_end(plan::ExchangeEnd end, std::string doc, bool counts_traffic);

/// The same operands, which are one stretch of memory; one result of `part` numbers: of equal parts
/// of the stretch, as many as there are ranks, the rank's own.
OpDef own_part_of(const std::string& name, std::string doc);

/// Fails unless the exchange has a name and all operands are of one type of numbers.
bool expect_exchanged(ShapeContext& c, const std::string& op);

}  // namespace dtnn::compiler
