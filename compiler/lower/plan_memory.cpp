#include "compiler/lower/plan_memory.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "plan/plan.hpp"

namespace dtnn::compiler {

std::int64_t rounded(std::int64_t bytes) {
    return (bytes + plan::kAlignment - 1) / plan::kAlignment * plan::kAlignment;
}

namespace {

struct Placed {
    std::int64_t offset, end;
    int first, last;
};

// Each block at the lowest of the tightest gaps between those that live at its time. An order that
// comes to `enough` bytes is given up: another one took no more.
Placement place_in_order(const std::vector<Block>& blocks, const std::vector<std::size_t>& order,
                         std::int64_t enough) {
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
        if (placement.bytes >= enough) return placement;
        Placed entry{offset, offset + size, block.first, block.last};
        placed.insert(
            std::upper_bound(placed.begin(), placed.end(), entry,
                             [](const Placed& a, const Placed& b) { return a.offset < b.offset; }),
            entry);
    }
    return placement;
}

// The free stretches below `top` while time passes, by offset and by size; neighbours are joined.
class FreeList {
  public:
    /// The offset of `size` bytes: the start of the smallest stretch that has them (the lowest of
    /// equal ones), or the top, which then grows.
    std::int64_t take(std::int64_t size) {
        const auto found = by_size_.lower_bound({size, 0});
        if (found == by_size_.end()) {
            top_ += size;
            most_ = std::max(most_, top_);
            return top_ - size;
        }
        const auto [stretch, offset] = *found;
        by_size_.erase(found);
        by_offset_.erase(offset);
        if (stretch > size) add(offset + size, stretch - size);
        return offset;
    }

    void give_back(std::int64_t offset, std::int64_t size) {
        auto after = by_offset_.lower_bound(offset);
        if (after != by_offset_.end() && after->first == offset + size) {
            size += after->second;
            after = remove(after);
        }
        if (after != by_offset_.begin()) {
            const auto before = std::prev(after);
            if (before->first + before->second == offset) {
                offset = before->first;
                size += before->second;
                remove(before);
            }
        }
        if (offset + size == top_)
            top_ = offset;
        else
            add(offset, size);
    }

    std::int64_t most() const { return most_; }

  private:
    void add(std::int64_t offset, std::int64_t size) {
        by_offset_.emplace(offset, size);
        by_size_.emplace(size, offset);
    }
    std::map<std::int64_t, std::int64_t>::iterator remove(
        std::map<std::int64_t, std::int64_t>::iterator entry) {
        by_size_.erase({entry->second, entry->first});
        return by_offset_.erase(entry);
    }

    std::map<std::int64_t, std::int64_t> by_offset_;           // size by offset
    std::set<std::pair<std::int64_t, std::int64_t>> by_size_;  // (size, offset)
    std::int64_t top_ = 0, most_ = 0;
};

// Blocks by the step that `step_of` gives, equal ones in their order. Steps are dense, so counting
// them takes less than comparing blocks.
template <class StepOf>
std::vector<std::uint32_t> in_order(std::size_t blocks, StepOf step_of) {
    int least = std::numeric_limits<int>::max(), most = std::numeric_limits<int>::min();
    for (std::size_t i = 0; i < blocks; ++i) {
        least = std::min(least, step_of(i));
        most = std::max(most, step_of(i));
    }
    if (blocks == 0) return {};
    std::vector<std::uint32_t> next(static_cast<std::size_t>(most - least) + 2);
    for (std::size_t i = 0; i < blocks; ++i)
        ++next[std::size_t(step_of(i) - least) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::vector<std::uint32_t> order(blocks);
    for (std::size_t i = 0; i < blocks; ++i)
        order[next[std::size_t(step_of(i) - least)]++] = std::uint32_t(i);
    return order;
}

// Blocks take and give back memory as time passes, forwards or backwards: O(n log n).
Placement place_in_time(const std::vector<Block>& blocks, bool forwards) {
    const auto born = [&](std::size_t i) { return forwards ? blocks[i].first : -blocks[i].last; };
    const auto dies = [&](std::size_t i) { return forwards ? blocks[i].last : -blocks[i].first; };
    const std::vector<std::uint32_t> births = in_order(blocks.size(), born);
    const std::vector<std::uint32_t> deaths = in_order(blocks.size(), dies);
    Placement placement;
    placement.offsets.assign(blocks.size(), 0);
    FreeList free;
    std::size_t dead = 0;
    for (const std::size_t index : births) {
        for (; dead < deaths.size() && dies(deaths[dead]) < born(index); ++dead)
            if (const std::int64_t size = rounded(blocks[deaths[dead]].bytes); size > 0)
                free.give_back(placement.offsets[deaths[dead]], size);
        if (const std::int64_t size = rounded(blocks[index].bytes); size > 0)
            placement.offsets[index] = free.take(size);
    }
    placement.bytes = free.most();
    return placement;
}

// Beyond this many blocks only the orders of time are tried: the others compare every block with
// every other one that lives at the same time. For networks of thousands of layers the forward
// order comes within thousandths of the least bytes in training (tests/benchmarks/README.md).
constexpr std::size_t kMostBlocksCompared = 4096;

}  // namespace

std::int64_t least_bytes(const std::vector<Block>& blocks) {
    int last = 0;
    for (const Block& block : blocks)
        last = std::max(last, block.last);
    std::vector<std::int64_t> change(static_cast<std::size_t>(last) + 2);  // by step
    for (const Block& block : blocks) {
        change[std::size_t(block.first)] += rounded(block.bytes);
        change[std::size_t(block.last) + 1] -= rounded(block.bytes);
    }
    std::int64_t alive = 0, most = 0;
    for (const std::int64_t bytes : change)
        most = std::max(most, alive += bytes);
    return most;
}

Placement place_blocks(const std::vector<Block>& blocks) {
    auto life = [&](std::size_t i) { return std::int64_t{blocks[i].last} - blocks[i].first + 1; };
    auto size = [&](std::size_t i) { return blocks[i].bytes; };
    auto area = [&](std::size_t i) { return double(size(i)) * double(life(i)); };
    std::int64_t least = least_bytes(blocks);
    Placement best;
    best.bytes = std::numeric_limits<std::int64_t>::max();
    std::vector<std::size_t> order(blocks.size());
    auto keep = [&](Placement placement) {
        if (placement.bytes < best.bytes) best = std::move(placement);
    };
    auto attempt = [&](auto before) {
        if (best.bytes <= least || blocks.size() > kMostBlocksCompared) return;
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), before);
        keep(place_in_order(blocks, order, best.bytes));
    };
    attempt([&](std::size_t a, std::size_t b) { return size(a) > size(b); });
    attempt([&](std::size_t a, std::size_t b) { return area(a) > area(b); });
    attempt([&](std::size_t a, std::size_t b) { return life(a) > life(b); });
    attempt([&](std::size_t a, std::size_t b) { return blocks[a].first < blocks[b].first; });
    for (bool forwards : {true, false})
        if (best.bytes > least) keep(place_in_time(blocks, forwards));
    return best;
}

}  // namespace dtnn::compiler
