#include "compiler/lower/plan_memory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "plan/plan.hpp"

namespace plan_memory_test {

using namespace dtnn::compiler;

namespace {

std::int64_t rounded(std::int64_t bytes) {
    return (bytes + dtnn::plan::kAlignment - 1) / dtnn::plan::kAlignment * dtnn::plan::kAlignment;
}

bool meet(const Block& a, const Block& b) {
    return a.first <= b.last && b.first <= a.last;
}

// All pairs, and the extent: what a placement must be, said directly.
void check_placement(const std::vector<Block>& blocks, const Placement& placement) {
    REQUIRE(placement.offsets.size() == blocks.size());
    std::int64_t end = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        std::int64_t offset = placement.offsets[i];
        CHECK(offset >= 0);
        CHECK(offset % dtnn::plan::kAlignment == 0);
        if (blocks[i].bytes > 0) end = std::max(end, offset + rounded(blocks[i].bytes));
        for (std::size_t j = 0; j < i; ++j) {
            if (!meet(blocks[i], blocks[j])) continue;
            bool apart = offset + blocks[i].bytes <= placement.offsets[j] ||
                         placement.offsets[j] + blocks[j].bytes <= offset;
            CHECK(apart);
        }
    }
    CHECK(placement.bytes == end);
    CHECK(placement.bytes >= least_bytes(blocks));
}

// The best of first fit over every order. Some order of first fit is optimal: that of the offsets
// of an optimal placement.
std::int64_t optimum(const std::vector<Block>& blocks) {
    std::vector<std::size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    do {
        std::vector<std::int64_t> offsets(blocks.size(), -1);
        std::int64_t end = 0;
        for (std::size_t i : order) {
            std::int64_t offset = 0;
            for (bool moved = true; moved;) {
                moved = false;
                for (std::size_t j = 0; j < blocks.size(); ++j) {
                    if (offsets[j] < 0 || !meet(blocks[i], blocks[j])) continue;
                    std::int64_t other_end = offsets[j] + rounded(blocks[j].bytes);
                    if (offset < other_end && offsets[j] < offset + rounded(blocks[i].bytes)) {
                        offset = other_end;
                        moved = true;
                    }
                }
            }
            offsets[i] = offset;
            end = std::max(end, offset + rounded(blocks[i].bytes));
        }
        best = std::min(best, end);
    } while (std::next_permutation(order.begin(), order.end()));
    return best;
}

std::vector<Block> random_blocks(std::mt19937& random, int count, int steps) {
    std::vector<Block> blocks;
    for (int i = 0; i < count; ++i) {
        int a = int(random() % unsigned(steps));
        int b = int(random() % unsigned(steps));
        blocks.push_back(
            {static_cast<std::int64_t>(random() % 1000), std::min(a, b), std::max(a, b)});
    }
    return blocks;
}

}  // namespace

TEST_CASE("no blocks take no memory, empty ones neither") {
    CHECK(place_blocks({}).bytes == 0);
    Placement placement = place_blocks({{0, 0, 5}, {1, 0, 0}, {1, 1, 1}});
    CHECK(placement.bytes == 64);
}

TEST_CASE("blocks that never meet share") {
    Placement placement = place_blocks({{1000, 0, 1}, {900, 2, 3}, {800, 4, 4}});
    CHECK(placement.bytes == 1024);
}

TEST_CASE("small cases are close to the optimum") {
    std::mt19937 random(1);
    double total = 0, best = 0;
    for (int round = 0; round < 200; ++round) {
        std::vector<Block> blocks = random_blocks(random, 6, 8);
        Placement placement = place_blocks(blocks);
        check_placement(blocks, placement);
        std::int64_t least = optimum(blocks);
        CHECK(placement.bytes >= least);
        CHECK(double(placement.bytes) <= 1.5 * double(least));
        total += double(placement.bytes);
        best += double(least);
    }
    CHECK(total <= 1.01 * best);
}

TEST_CASE("large cases are sound and near the least") {
    std::mt19937 random(2);
    for (int count : {50, 300, 1000}) {
        std::vector<Block> blocks = random_blocks(random, count, count);
        Placement placement = place_blocks(blocks);
        check_placement(blocks, placement);
        CHECK(double(placement.bytes) <= 1.15 * double(least_bytes(blocks)));
        CHECK(place_blocks(blocks).offsets == placement.offsets);
    }
}

TEST_CASE("a training pass, forward values kept for backward, is placed at the least") {
    // Activation i lives from step i to step 2n-1-i; each backward step has a gradient and a
    // workspace.
    std::vector<Block> blocks;
    int n = 40;
    for (int i = 0; i < n; ++i) {
        blocks.push_back({10000 - 200 * i, i, 2 * n - 1 - i});
        blocks.push_back({10000 - 200 * i, 2 * n - 1 - i, std::min(2 * n - 1, 2 * n - i)});
        blocks.push_back({5000, i, i});
    }
    Placement placement = place_blocks(blocks);
    check_placement(blocks, placement);
    CHECK(placement.bytes <= least_bytes(blocks) * 105 / 100);
}

TEST_CASE("a training pass of thousands of layers is placed at the least, in time alone") {
    // Forward value i lives until its backward step; between them, of every step, one that dies in
    // the next. More blocks than are compared with each other.
    const int layers = 3000;
    std::vector<Block> blocks;
    std::mt19937 random(3);
    std::uniform_int_distribution<int> size(1, 40);
    for (int i = 0; i < layers; ++i)
        blocks.push_back({64 * size(random), i, 2 * layers - 1 - i});
    for (int i = 0; i + 1 < 2 * layers; ++i)
        blocks.push_back({64, i, i + 1});
    const Placement placement = place_blocks(blocks);
    const std::int64_t least = least_bytes(blocks);
    CHECK(placement.bytes >= least);
    CHECK(double(placement.bytes) <= 1.001 * double(least));
    // Soundness of all of them, by a sweep: what is alive at a step, by offset, is disjoint.
    for (int step = 0; step < 2 * layers; step += 97) {
        std::vector<std::pair<std::int64_t, std::int64_t>> alive;
        for (std::size_t i = 0; i < blocks.size(); ++i)
            if (blocks[i].first <= step && step <= blocks[i].last)
                alive.emplace_back(placement.offsets[i], placement.offsets[i] + blocks[i].bytes);
        std::sort(alive.begin(), alive.end());
        for (std::size_t i = 1; i < alive.size(); ++i)
            CHECK(alive[i - 1].second <= alive[i].first);
        CHECK((alive.empty() || alive.back().second <= placement.bytes));
    }
}

}  // namespace plan_memory_test
