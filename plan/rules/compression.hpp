#pragma once
/// How gradients travel between ranks in fewer bytes, in numbers: what compiler, runtime and
/// forecast must agree on. The arithmetic is in runtime/comm/compression_*.hpp, the words for
/// people in docs/parallel.md.
///
///     full   as they are in memory
///     bf16   every number rounded to 16 bits; sums are taken in f32 and rounded once more
///     fp16   likewise, in blocks of kCompressionBlock numbers that have a power of two in common
///     top_k  the largest numbers only, each with its place; the others wait for the next time

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "plan/plan.hpp"
#include "plan/rules/exchange_model.hpp"

namespace dtnn::plan {

/// Numbers that are packed together, and that one rank adds up for all. A fixed grid over the
/// exchange, so that results do not depend on which rank has which part.
inline constexpr std::int64_t kCompressionBlock = 256;
/// top_k: numbers that an exchange sends at least, whatever the density.
inline constexpr std::int64_t kLeastSelected = 10;
/// top_k: a number with its place.
inline constexpr std::int64_t kEntryBytes = 8;
/// top_k: the selection over all ranks counts in so many bins, so many times.
inline constexpr std::int64_t kSelectionBins = 256;
inline constexpr int kSelectionRounds = 4;
/// Numbers of an exchange that is not "full": their places are 31 bits.
inline constexpr std::int64_t kMostCompressedElements = (std::int64_t{1} << 31) - kCompressionBlock;

/// The rounding of a number depends on which others are in its exchange, so bucket_bytes has a part
/// in the mathematics.
bool depends_on_buckets(const Parallel& parallel);

/// bf16, fp16: bytes that so many numbers take, from the start of a block. Blocks of fp16 begin
/// with their power of two, in 16 bits.
inline std::int64_t packed_bytes(bool fp16, std::int64_t elements) {
    const std::int64_t blocks = elements / kCompressionBlock + (elements % kCompressionBlock > 0);
    return 2 * (elements + (fp16 ? blocks : 0));
}

/// top_k: numbers that one exchange sends and receives, 1 <= k <= elements.
inline std::int64_t selected_of(std::int64_t elements, double density) {
    const auto wanted = std::int64_t(std::ceil(std::clamp(density, 0.0, 1.0) * double(elements)));
    return std::min(elements, std::max(kLeastSelected, wanted));
}

/// Memory of the exchange's own, from its start to its end, on any number of ranks.
///     bf16, fp16: all numbers, packed; then what comes from other ranks for the own part, which on
///                 two ranks is half of that, and from several at once fills as much again
///     top_k:      the own entries; twice as much for entries that come; the counts
std::int64_t compression_scratch_bytes(Compression compression, std::int64_t elements,
                                       double density);

/// Bytes that each rank sends in the exchange, and seconds that it takes, as exchange_wire_bytes
/// and exchange_seconds have them of "full". Of top_k with evenly spread places.
double wire_bytes_of(const Collective& collective, int ranks);
double wire_seconds_of(const Link& link, const Collective& collective, int ranks);

}  // namespace dtnn::plan
