#include "compiler/lower/plan_memory.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "plan/plan.hpp"

namespace dtnn::compiler {

namespace {

std::int64_t rounded(std::int64_t bytes) {
    return (bytes + plan::kAlignment - 1) / plan::kAlignment * plan::kAlignment;
}

struct Placed {
    std::int64_t offset, end;
    int first, last;
};

Placement place_in_order(const std::vector<Block>& blocks, const std::vector<std::size_t>& order) {
    Placement placement;
    placement.offsets.assign(blocks.size(), 0);
    std::vector<Placed> placed;  // by offset
    placed.reserve(blocks.size());
    for (std::size_t index : order) {
        const Block& block = blocks[index];
        std::int64_t size = rounded(block.bytes);
        if (size == 0) continue;
        std::int64_t best = -1, best_gap = std::numeric_limits<std::int64_t>::max();
        std::int64_t end = 0;  // of the blocks met so far
        for (const Placed& other : placed) {
            if (other.last < block.first || other.first > block.last) continue;
            std::int64_t gap = other.offset - end;
            if (gap >= size && gap < best_gap) best = end, best_gap = gap;
            end = std::max(end, other.end);
        }
        std::int64_t offset = best >= 0 ? best : end;
        placement.offsets[index] = offset;
        placement.bytes = std::max(placement.bytes, offset + size);
        Placed entry{offset, offset + size, block.first, block.last};
        placed.insert(
            std::upper_bound(placed.begin(), placed.end(), entry,
                             [](const Placed& a, const Placed& b) { return a.offset < b.offset; }),
            entry);
    }
    return placement;
}

}  // namespace

std::int64_t least_bytes(const std::vector<Block>& blocks) {
    std::map<int, std::int64_t> change;
    for (const Block& block : blocks) {
        change[block.first] += rounded(block.bytes);
        change[block.last + 1] -= rounded(block.bytes);
    }
    std::int64_t alive = 0, most = 0;
    for (const auto& [step, bytes] : change)
        most = std::max(most, alive += bytes);
    return most;
}

Placement place_blocks(const std::vector<Block>& blocks) {
    auto life = [&](std::size_t i) { return std::int64_t{blocks[i].last} - blocks[i].first + 1; };
    auto size = [&](std::size_t i) { return blocks[i].bytes; };
    auto area = [&](std::size_t i) { return static_cast<double>(size(i)) * double(life(i)); };
    std::int64_t least = least_bytes(blocks);
    Placement best;
    best.bytes = std::numeric_limits<std::int64_t>::max();
    std::vector<std::size_t> order(blocks.size());
    auto attempt = [&](auto before) {
        if (best.bytes <= least) return;
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), before);
        Placement placement = place_in_order(blocks, order);
        if (placement.bytes < best.bytes) best = std::move(placement);
    };
    attempt([&](std::size_t a, std::size_t b) { return size(a) > size(b); });
    attempt([&](std::size_t a, std::size_t b) { return area(a) > area(b); });
    attempt([&](std::size_t a, std::size_t b) { return life(a) > life(b); });
    attempt([&](std::size_t a, std::size_t b) { return blocks[a].first < blocks[b].first; });
    return best;
}

}  // namespace dtnn::compiler
