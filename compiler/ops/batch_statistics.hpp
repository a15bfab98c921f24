#pragma once
/// What the operators of batch normalisation share: per-channel operands.

#include "compiler/ops/define.hpp"

namespace dtnn::compiler {

/// Fails unless operands first .. first+count-1 are one number per channel (axis 1) of operand 0.
bool expect_per_channel(ShapeContext& c, const char* op, std::size_t first, std::size_t count);
/// Fails unless operand 0 has a channel axis.
bool expect_channels(ShapeContext& c, const char* op);
/// One byte for eight elements.
std::int64_t bit_mask_bytes(std::int64_t elements);

}  // namespace dtnn::compiler
