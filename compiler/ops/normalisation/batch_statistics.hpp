#pragma once
/// The operands per channel that the operators of batch normalisation share.

#include "compiler/ops/axis.hpp"

namespace dtnn::compiler {

/// Fails unless operands first .. first+count-1 are one number per channel of operand 0.
bool expect_per_channel(ShapeContext& c, const char* op, std::size_t first, std::size_t count);
/// The operands of a backward operator that have to do with neither exchanges nor weights of
/// batches: src, diff_dst, gamma, mean, inverse_deviation, and beta or mask where they are there.
bool expect_relu_backward(ShapeContext& c, const char* op);
/// The type of two sums for every channel of `src`, and of the count of a channel's elements: f64
/// [2C+1].
Type rank_sums(const Type& src);
/// The type of what a rank adds to the mean and variance of every channel: f64 [7C+1].
Type rank_moments(const Type& src);
inline constexpr const char* kSynchronisedLate =
    "synchronise_statistics comes after differentiation";
/// One byte for eight elements.
std::int64_t bit_mask_bytes(std::int64_t elements);

}  // namespace dtnn::compiler
