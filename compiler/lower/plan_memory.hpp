#pragma once
/// The third stage of lowering: offsets for stretches of memory whose lives are known.

#include <cstdint>
#include <vector>

namespace dtnn::compiler {

/// Bytes up to the next multiple of plan::kAlignment.
std::int64_t rounded(std::int64_t bytes);

/// Bytes needed from the start of step `first` to the end of step `last`.
struct Block {
    std::int64_t bytes = 0;
    int first = 0;
    int last = 0;
};

struct Placement {
    std::vector<std::int64_t> offsets;  ///< by block, multiples of plan::kAlignment
    std::int64_t bytes = 0;             ///< of the whole region, a multiple of plan::kAlignment
};

/// Places blocks so that those alive at the same time do not overlap. Several greedy orders are
/// tried; the smallest region wins and equal ones go to the earlier order, so the result depends on
/// the blocks alone.
/// - By size, by size times life, by life, by first step: each block into the tightest gap between
///   the already placed ones that it meets in time. After Pisarchyk and Lee, "Efficient memory
///   management for deep neural net inference", 2020 (greedy by size). A block costs one scan over
///   the blocks placed before it, so these are left out for more than a few thousand blocks.
/// - As time passes, forwards and then backwards: each block into the smallest free stretch.
/// The time is O(n log n) in the number of blocks; a region of the least possible size ends it.
Placement place_blocks(const std::vector<Block>& blocks);

/// The most bytes that are alive at once, rounded up block by block: no placement can be smaller.
std::int64_t least_bytes(const std::vector<Block>& blocks);

}  // namespace dtnn::compiler
