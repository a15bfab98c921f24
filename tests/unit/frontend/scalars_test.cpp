#include "compiler/frontend/read/scalars.hpp"

#include <doctest/doctest.h>

namespace scalars_test {

using namespace dtnn::compiler;

TEST_CASE("integers are decimal, without leading zeros") {
    CHECK_EQ(parse_integer("0").value, 0);
    CHECK_EQ(parse_integer("-12").value, -12);
    CHECK_EQ(parse_integer("9223372036854775807").value, INT64_MAX);
    CHECK(parse_integer("9223372036854775808").overflow);
    for (const char* text :
         {"", "-", "+1", "012", "1.0", "1e3", "0x10", "1_000", " 1", "1 ", "one", "--1"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_integer(text).value);
    }
    CHECK_EQ(parse_integer("012").help, "write 12, without leading zeros");
    CHECK_EQ(parse_integer("-007").help, "write -7, without leading zeros");
    CHECK_EQ(parse_integer("000").help, "write 0, without leading zeros");
    CHECK_EQ(parse_integer("0x1F").help, "write 31");
    CHECK_EQ(parse_integer("3.0").help, "write 3");
    CHECK_EQ(parse_integer("3.5").help, "");
}

TEST_CASE("reals are finite") {
    CHECK_EQ(parse_real("1e-3").value, 0.001);
    CHECK_EQ(parse_real("3").value, 3.0);
    CHECK_EQ(parse_real("-.5").value, -0.5);
    CHECK_EQ(parse_real("1e-999").value, 0.0);
    CHECK(parse_real("1e999").overflow);
    for (const char* text :
         {"", "inf", "nan", ".inf", "-inf", ".nan", "1e", "0x1p3", "1,5", "1 "}) {
        CAPTURE(text);
        CHECK_FALSE(parse_real(text).value);
    }
}

TEST_CASE("memory sizes have units") {
    CHECK_EQ(parse_memory_size("4GiB"), std::int64_t{4} << 30);
    CHECK_EQ(parse_memory_size("1.5 KiB"), 1536);
    CHECK_EQ(parse_memory_size("2GB"), 2'000'000'000);
    CHECK_EQ(parse_memory_size("100"), 100);
    CHECK_EQ(parse_memory_size("64B"), 64);
    for (const char* text : {"", "GiB", "-1GiB", "0", "4 gigs", "4G", "1e300TiB", "nan", "0.1"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_memory_size(text));
    }
}

}  // namespace scalars_test
