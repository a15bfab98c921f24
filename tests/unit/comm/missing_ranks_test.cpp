#include "runtime/comm/missing_ranks.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace missing_ranks_test {

using namespace dtnn::runtime;

namespace {

/// A rank at collective `newest` that waits for `whom` in `in`.
Standing standing(std::int64_t newest, int whom, std::int64_t in, std::uint64_t begun = 7) {
    Standing one;
    one.newest.number = newest;
    one.waits_for = whom;
    one.waits_in = in;
    one.begun = begun;
    return one;
}
const Standing kSilent = standing(-1, kNobody, 0, 0);

using Ranks = std::vector<int>;

/// As rank 0 sees it, which waits for all in collective 9 unless it says otherwise.
Missing seen(std::vector<Standing> others, const Standing& mine = standing(9, kAll, 9)) {
    others.insert(others.begin(), mine);
    return find_missing(0, mine, 7, others);
}

}  // namespace

TEST_CASE("a rank that does not answer is missing, one that waits for it is not") {
    const Missing one = seen({standing(9, kAll, 9), kSilent, standing(8, 2, 8)});
    CHECK(one.silent == Ranks{2});
    CHECK(one.behind.empty());
    // By numbers alone rank 2 would be the one: it is behind, but waits for rank 3.
    const Missing chain = seen({standing(9, kAll, 9), standing(8, 3, 8), standing(8, kNobody, 0)});
    CHECK(chain.silent.empty());
    CHECK(chain.behind == Ranks{3});
}

TEST_CASE("a rank that is behind and waits for nobody is missing") {
    const Missing one = seen({standing(4, kNobody, 0), standing(6, kAll, 6)});
    CHECK(one.behind == Ranks{1});
    CHECK(seen({standing(9, kAll, 9), standing(11, kNobody, 0)}).behind.empty());
}

TEST_CASE("who waits for one rank asks nothing of the others") {
    const Standing mine = standing(9, 2, 9);
    CHECK(seen({kSilent, standing(9, kAll, 9)}, mine).behind.empty());
    const Missing through = seen({kSilent, standing(9, 1, 9)}, mine);
    CHECK(through.silent == Ranks{1});
}

TEST_CASE("ranks that do different things under one number are told apart") {
    const Missing one =
        seen({standing(9, kAll, 9, 7), standing(9, kAll, 9, 8), standing(12, kNobody, 0, 0)});
    CHECK(one.silent.empty());
    CHECK(one.behind.empty());
    CHECK(one.other == Ranks{2});
}

TEST_CASE("what was begun is remembered by its number for a while") {
    Begun begun;
    Position position;
    for (position.number = 1; position.number < 200; ++position.number) {
        position.what[0] = char('a' + position.number % 3);
        begun.add(position);
    }
    CHECK(begun.at(199) != 0);
    CHECK(begun.at(199) == begun.at(196));
    CHECK(begun.at(199) != begun.at(198));
    CHECK(begun.at(3) == 0);
    CHECK(begun.at(200) == 0);
}

}  // namespace missing_ranks_test
