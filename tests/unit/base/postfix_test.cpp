#include "base/expression/postfix.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

namespace postfix_test {

using namespace dtnn;

TEST_CASE("text that is no expression is refused, and the word that is wrong is said") {
    Postfix postfix;
    const auto mistake_of = [&](const char* text) {
        const auto mistake = parse_postfix(text, postfix);
        return mistake ? std::to_string(mistake->column) + ": " + mistake->reason : "none";
    };
    CHECK(mistake_of("x0 -1.5e-3 max") == "none");
    CHECK(postfix.inputs == 1);
    CHECK(postfix.depth == 2);
    CHECK(mistake_of("x0 plus") == "4: `plus` is no operand and no operation");
    CHECK(mistake_of("x0 add") == "4: `add` needs 2 operands and finds 1");
    CHECK(mistake_of("x0 x1") == "6: it leaves 2 values instead of one");
    CHECK(mistake_of("") == "1: it leaves 0 values instead of one");
    CHECK(mistake_of("x-1") == "1: `x-1` is no operand and no operation");
    CHECK(mistake_of("c") == "1: `c` is no operand and no operation");
    CHECK(mistake_of("x2147483646") == "none");
    CHECK(postfix.inputs == 2147483647);
    CHECK(mistake_of("x2147483647") != "none");
}

TEST_CASE("inputs and numbers are what the text says") {
    Postfix postfix;
    CHECK_FALSE(parse_postfix("x1 c2 0.5 where", postfix));
    const auto& read = postfix.instructions;
    REQUIRE(read.size() == 4);
    CHECK(read[0].index == 1);
    CHECK_FALSE(read[0].by_channel);
    CHECK(read[1].index == 2);
    CHECK(read[1].by_channel);
    CHECK(read[2].number == 0.5);
    CHECK(read[3].term == Term::select);
    CHECK(name_of(read[3].term) == "select");
    CHECK(evaluate(postfix, std::array{0.0, 1.0, 4.0}) == 4);
    CHECK(evaluate(postfix, std::array{0.0, 0.0, 4.0}) == 0.5);
}

}  // namespace postfix_test
