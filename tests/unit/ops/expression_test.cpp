#include "compiler/ops/expression.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

using namespace dtnn::compiler;

namespace {

std::string postfix(const char* infix) {
    return to_postfix(parse_infix(infix));
}
std::string simple(const char* infix) {
    return to_postfix(simplify(parse_infix(infix)));
}

}  // namespace

TEST_CASE("infix becomes postfix with the usual precedence") {
    CHECK(postfix("max(x, 0)") == "x0 0 max");
    CHECK(postfix("x0 + x1 * 2 - 3") == "x0 x1 2 mul add 3 sub");
    CHECK(postfix("(x0 + x1) / 0.5") == "x0 x1 add 0.5 div");
    CHECK(postfix("-x * -2") == "x0 neg 2 neg mul");
    CHECK(postfix("select(x0 > x1, exp(x0), sqrt(abs(x1)))") ==
          "x0 x1 gt x0 exp x1 abs sqrt select");
    CHECK(to_postfix(parse_infix("diff * y", {"diff", "y"})) == "x0 x1 mul");
}

TEST_CASE("postfix reads back") {
    for (const char* text : {"x0 0 max", "x1 0 gt x0 0 select", "x0 x1 add x12 tanh mul",
                             "x0 1e-05 add -2.5 mul", "x0 sigmoid log neg"})
        CHECK(to_postfix(parse_postfix(text)) == text);
}

TEST_CASE("text that is no expression is refused with the reason") {
    CHECK_THROWS_WITH(parse_infix("x +"),
                      "`x +`, column 4: expected a number, an input or a function");
    CHECK_THROWS_WITH(parse_infix("sin(x)"),
                      "`sin(x)`, column 4: `sin` is neither an input nor a function");
    CHECK_THROWS_AS(parse_infix("max(x)"), ExpressionError);
    CHECK_THROWS_AS(parse_infix("x x"), ExpressionError);
    CHECK_THROWS_WITH(parse_postfix("x0 add"), "`x0 add`: `add` lacks operands");
    CHECK_THROWS_WITH(parse_postfix("x0 x1"), "`x0 x1` leaves 2 values, not one");
    CHECK_THROWS_AS(parse_postfix(""), ExpressionError);
}

TEST_CASE("simplification folds constants and drops what does nothing") {
    CHECK(simple("x + 0") == "x0");
    CHECK(simple("1 * x / 1 - 0") == "x0");
    CHECK(simple("0 * exp(x)") == "0");
    CHECK(simple("2 * 3 + x") == "6 x0 add");
    CHECK(simple("0 - x") == "x0 neg");
    CHECK(simple("--x") == "x0");
    CHECK(simple("select(1 > 0, x, 3)") == "x0");
    CHECK(simple("select(x > 0, 2, 2)") == "2");
    CHECK(simple("x0 * (x1 > 0)") == "x1 0 gt x0 0 select");
    CHECK(simple("1 / 0") == "1 0 div");  // not folded: the result is no number
}

TEST_CASE("substitution composes") {
    const Expression relu = parse_infix("max(x, 0)");
    const Expression sum = parse_infix("x0 + x1");
    CHECK(to_postfix(substitute(relu, {sum})) == "x0 x1 add 0 max");
}

TEST_CASE("operations and inputs are counted") {
    CHECK(flops(parse_infix("max(x, 0)")) == 1);
    CHECK(flops(parse_infix("x0 * (x1 * (1 - x1))")) == 3);
    CHECK(input_count(parse_infix("x3 + 1")) == 4);
    CHECK(input_count(parse_infix("1")) == 0);
    CHECK(reads(parse_infix("x0 + x2"), 2));
    CHECK_FALSE(reads(parse_infix("x0 + x2"), 1));
}

TEST_CASE("symbolic derivatives agree with central differences") {
    const std::array<std::array<double, 2>, 4> points{
        {{0.7, 1.3}, {-0.4, 0.9}, {1.5, 0.2}, {2.1, -0.6}}};
    for (const char* infix : {"x0 + x1", "x0 - x1", "x0 * x1", "x0 / (x1 * x1 + 1)", "max(x0, x1)",
                              "min(x0, x1)", "-x0 * x1", "abs(x0) + abs(x1)", "exp(x0 * x1)",
                              "log(x0 * x0 + x1 * x1)", "sqrt(x0 * x0 + 1) * x1", "tanh(x0 * x1)",
                              "sigmoid(x0 - 2 * x1)", "select(x0 > x1, x0 * x0, x1 * 3)",
                              "x0 * sigmoid(x0) + x1", "max(x0 * x1 + x0, 0) * (x1 > 0)"}) {
        const Expression e = parse_infix(infix);
        for (int by = 0; by < 2; ++by) {
            const Expression d = differentiate(e, by);
            for (const auto& point : points) {
                CAPTURE(infix);
                CAPTURE(by);
                const double h = 1e-6;
                auto before = point, after = point;
                before[static_cast<std::size_t>(by)] -= h;
                after[static_cast<std::size_t>(by)] += h;
                const double numeric = (evaluate(e, after) - evaluate(e, before)) / (2 * h);
                CHECK(evaluate(d, point) == doctest::Approx(numeric).epsilon(1e-7));
            }
        }
    }
}
