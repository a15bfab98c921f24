#include "base/text.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "base/utf8.hpp"

namespace text_test {

using namespace dtnn;

TEST_CASE("numbers of things") {
    CHECK(count_text(1, "layer") == "1 layer");
    CHECK(count_text(2, "layer") == "2 layers");
    CHECK(count_text(0, "layer") == "0 layers");
    CHECK(count_text(1, "class", "classes") == "1 class");
    CHECK(count_text(1234, "class", "classes") == "1,234 classes");
}

TEST_CASE("numbers are grouped by thousands") {
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(1000) == "1,000");
    CHECK(grouped(15245130) == "15,245,130");
    CHECK(grouped(-100) == "-100");
    CHECK(grouped(-1000) == "-1,000");
}

TEST_CASE("a real keeps a mark of being one") {
    CHECK(real_text(2) == "2.0");
    CHECK(real_text(-0.0) == "-0.0");
    CHECK(real_text(0.1) == "0.1");
    CHECK(real_text(1e20) == "1e+20");
    CHECK(real_text(std::numeric_limits<double>::infinity()) == "inf");
    CHECK(real_text(std::numeric_limits<double>::quiet_NaN()) == "nan");
}

TEST_CASE("shapes") {
    CHECK(shape_text(std::vector<std::int64_t>{3, 32, 32}) == "3x32x32");
    CHECK(shape_text(std::vector<std::int64_t>{3, 32}, kTimesSign) == "3\u00d732");
    CHECK(shape_text({}) == "");
}

TEST_CASE("letters in lower case, other bytes as they are") {
    CHECK(lower("Conv2D_\xC3\x84") == "conv2d_\xC3\x84");
}

TEST_CASE("characters are counted and found, not bytes") {
    const std::string text = "a\xC3\xA4z";
    CHECK(characters(text) == 3);
    CHECK(byte_of_character(text, 0) == 0);
    CHECK(byte_of_character(text, 2) == 3);
    CHECK(byte_of_character(text, 3) == 4);
    CHECK(byte_of_character(text, 9) == 4);
}

TEST_CASE("the length of a UTF-8 character") {
    CHECK(utf8_length("a") == 1);
    CHECK(utf8_length("\xC3\xA4z") == 2);
    CHECK(utf8_length("\xE2\x82\xAC") == 3);
    CHECK(utf8_length("\xF0\x9F\x99\x82") == 4);
    for (const char* broken :
         {"", "\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xE2\x82",
          "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"})
        CHECK(utf8_length(broken) == 0);
    CHECK(is_utf8("caf\xC3\xA9"));
    CHECK(!is_utf8("caf\xE9"));
    CHECK(is_utf8(""));
}

TEST_CASE("text from outside is shown without what a terminal would obey") {
    CHECK(printable("caf\xC3\xA9") == "caf\xC3\xA9");
    CHECK(printable("a\x1B[0m\xFF") == "a\\x1B[0m\\xFF");
    // What turns the direction of what follows, or ends a line.
    CHECK(printable("a\u202Eb\u2066c\u061Cd\u200Fe\u2028") ==
          "a\\xE2\\x80\\xAEb\\xE2\\x81\\xA6c\\xD8\\x9Cd\\xE2\\x80\\x8Fe\\xE2\\x80\\xA8");
    CHECK(printable("\u200D\u2030\u2067x\u206A\u0600") ==
          "\u200D\u2030\\xE2\\x81\\xA7x\u206A\u0600");
    CHECK(printable(std::string(300, 'a')) == std::string(200, 'a') + "...");
}

}  // namespace text_test
