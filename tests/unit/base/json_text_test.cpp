#include "base/json_text.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <map>

namespace json_text_test {

using namespace dtnn;

TEST_CASE("text that JSON cannot carry is escaped or replaced") {
    CHECK(json_text("a\"b\\c\nd\x01") == "\"a\\\"b\\\\c\\nd\\u0001\"");
    CHECK(json_text("\t\x7F") == "\"\\u0009\\u007f\"");
    // What a terminal would obey, or hide.
    CHECK(json_text("\u0085\u009F\u202E\u2028\u061C\u00A0") ==
          "\"\\u0085\\u009f\\u202e\\u2028\\u061c\u00A0\"");
    CHECK(json_text("\xC3\xA4\xF0\x9F\x99\x82") == "\"\xC3\xA4\xF0\x9F\x99\x82\"");
    CHECK(json_text("\xFF|\xC3") == "\"\xEF\xBF\xBD|\xEF\xBF\xBD\"");
    CHECK(json_text("\xED\xA0\x80") == "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");  // a surrogate
}

TEST_CASE("integers and reals read back as what they are") {
    CHECK(json_text(true) == "true");
    CHECK(json_text(-3) == "-3");
    CHECK(json_text(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
    CHECK(json_text(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
    CHECK(json_text(2.0) == "2.0");
    CHECK(json_text(0.1) == "0.1");
    CHECK(json_text(-std::numeric_limits<double>::infinity()) == R"({"real": "-inf"})");
    CHECK(json_text(std::numeric_limits<double>::quiet_NaN()) == R"({"real": "nan"})");
}

TEST_CASE("lists, variants and maps") {
    CHECK(json_text(std::vector<int>{}) == "[]");
    CHECK(json_text(std::vector<std::string>{"a", "b"}) == R"(["a", "b"])");
    using Value = std::variant<bool, double, std::vector<std::int64_t>>;
    CHECK(json_text(Value(std::vector<std::int64_t>{1, 2})) == "[1, 2]");
    CHECK(json_text(std::map<std::string, Value>{{"b", 1.0}, {"a", false}}) ==
          R"({"a": false, "b": 1.0})");
}

}  // namespace json_text_test
