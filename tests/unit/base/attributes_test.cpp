#include "base/tensor/attributes.hpp"

#include <doctest/doctest.h>

namespace attributes_test {

using namespace dtnn;

TEST_CASE("copies of attributes share one map until one of them is written") {
    Attributes a{{"units", std::int64_t{10}}, {"bias", true}};
    Attributes b = a;
    CHECK(b.shares(a));
    b["units"] = std::int64_t{20};
    CHECK_FALSE(b.shares(a));
    CHECK(std::get<std::int64_t>(a.at("units")) == 10);
    CHECK(std::get<std::int64_t>(b.at("units")) == 20);
    CHECK_FALSE(a == b);
    b["units"] = std::int64_t{10};
    CHECK(a == b);
    CHECK_FALSE(b.shares(a));
}

TEST_CASE("taking away what is not there leaves attributes shared") {
    Attributes a{{"bias", true}};
    Attributes b = a;
    CHECK(b.erase("units") == 0);
    CHECK(b.extract("units").empty());
    CHECK(b.shares(a));
    CHECK(b.erase("bias") == 1);
    CHECK(b.empty());
    CHECK(a.size() == 1);
    CHECK(b == Attributes{});
    a.clear();
    CHECK(a == b);
    CHECK(a.find("bias") == a.end());
}

}  // namespace attributes_test
