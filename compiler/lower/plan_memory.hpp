#pragma once
/// The third stage of lowering: offsets for stretches of memory whose lives are known.

#include <cstdint>
#include <vector>

namespace dtnn::compiler {

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

/// Places blocks so that those alive at the same time do not overlap. Greedy, each block into the
/// tightest gap between the already placed ones that it meets in time; tried in a few orders (by
/// size, by size times life, by life), the smallest region wins and equal ones go to the earlier
/// order, so the result depends on the blocks alone. After Pisarchyk and Lee, "Efficient memory
/// management for deep neural net inference", 2020 (greedy by size). A block costs one scan over
/// the blocks placed before it.
Placement place_blocks(const std::vector<Block>& blocks);

/// The most bytes that are alive at once, rounded up block by block: no placement can be smaller.
std::int64_t least_bytes(const std::vector<Block>& blocks);

}  // namespace dtnn::compiler
