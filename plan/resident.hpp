#pragma once
/// What a dataset's source keeps in memory: the compiler books it, the runtime checks that the plan
/// has booked enough, both by this formula.

#include <cstdint>

#include "plan/plan.hpp"

namespace dtnn::plan {

/// Samples, or their compressed files and their index: exactly for datasets of a known form, at
/// most
/// (`cache`) for those of the user's own files.
std::int64_t resident_bytes(const Dataset& dataset);

/// What one worker takes besides to decode the largest image, as bytes and as floats; zero where
/// nothing is decoded.
std::int64_t decoding_bytes(const Dataset& dataset);

/// Both, with as many workers as the plan has: Memory::samples.
std::int64_t sample_bytes(const Plan& plan);

}  // namespace dtnn::plan
