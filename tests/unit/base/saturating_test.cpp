#include "base/saturating.hpp"

#include <doctest/doctest.h>

namespace saturating_test {

using namespace dtnn;

TEST_CASE("counts stay within 64 bits") {
    constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();
    CHECK(saturating_product({}) == 1);
    CHECK(saturating_product({3, 4, 5}) == 60);
    CHECK(saturating_product({kGreatest, 2}) == kGreatest);
    CHECK(saturating_product({kGreatest, 2, 0}) == 0);
    CHECK(saturating_sum({}) == 0);
    CHECK(saturating_sum({3, 4}) == 7);
    CHECK(saturating_sum({kGreatest, 1}) == kGreatest);
}

}  // namespace saturating_test
