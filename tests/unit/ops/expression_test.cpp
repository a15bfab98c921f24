#include "base/expression/expression.hpp"

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <span>

#include "compiler/ops/expression/parse_infix.hpp"

namespace expression_test {

using namespace dtnn;
using namespace dtnn::compiler;

namespace {

std::string postfix(const char* infix) {
    return to_postfix(parse_infix(infix));
}
std::string simple(const char* infix) {
    return to_postfix(simplify(parse_infix(infix)));
}

Expression random_expression(std::mt19937_64& random, int depth) {
    const auto below = [&](std::size_t count) { return std::size_t(random() % count); };
    if (depth == 0 || below(6) == 0) {
        constexpr double kNumbers[] = {0, 1, -1, 2, 0.5, 3, -2.25};
        return below(3) == 0 ? Expression::constant(kNumbers[below(std::size(kNumbers))])
                             : Expression::input_at(int(below(2)));
    }
    struct Known {
        Term term;
        int operands;
    };
    constexpr Known kTerms[] = {
#define DTNN_TERM(name, operands, form, value) {Term::name, operands},
#include "base/expression/terms.def"
#undef DTNN_TERM
    };
    const Known known = kTerms[below(std::size(kTerms))];
    std::vector<Expression> operands;
    for (int i = 0; i < known.operands; ++i)
        operands.push_back(random_expression(random, depth - 1));
    return Expression::of(known.term, std::move(operands));
}

/// For a long search: DTNN_TRIALS=N takes N random expressions in place of a few thousand, and
/// DTNN_SEED=N others.
long trials_of(long usual) {
    const char* const given = std::getenv("DTNN_TRIALS");
    return given == nullptr ? usual : std::atol(given);
}
std::uint64_t seed_of(std::uint64_t usual) {
    const char* const given = std::getenv("DTNN_SEED");
    return given == nullptr ? usual : std::uint64_t(std::atoll(given));
}

/// Whether every part is a number at the point and near nothing that differences cannot
/// tell: a pole, the end of a domain, a kink, a jump.
bool is_regular(const Expression& e, std::span<const double> point) {
    for (const Expression& operand : e.operands)
        if (!is_regular(operand, point)) return false;
    const auto operand = [&](std::size_t i) { return evaluate(e.operands[i], point); };
    switch (e.term) {
        case Term::pow:
        case Term::log:
        case Term::sqrt:
            if (operand(0) < 1e-3) return false;
            break;
        case Term::log1p:
            if (operand(0) < -0.999) return false;
            break;
        case Term::atanh:
            if (std::fabs(operand(0)) > 0.99) return false;
            break;
        case Term::div:
            if (std::fabs(operand(1)) < 1e-3) return false;
            break;
        case Term::gt:
        case Term::ge:
        case Term::eq:
        case Term::min:
        case Term::max:
            if (std::fabs(operand(0) - operand(1)) < 1e-2) return false;
            break;
        case Term::abs:
            if (std::fabs(operand(0)) < 1e-2) return false;
            break;
        case Term::floor:
            if (std::fabs(operand(0)) > 50) return false;
            if (std::fabs(operand(0) - std::round(operand(0))) < 0.02) return false;
            break;
        default:
            break;
    }
    // Beside large numbers a difference of small ones is lost.
    return std::fabs(evaluate(e, point)) < 1e3;
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
                      "`sin(x)`, column 1: `sin` is neither an input nor a function");
    CHECK_THROWS_AS(parse_infix("max(x)"), ExpressionError);
    CHECK_THROWS_AS(parse_infix("x x"), ExpressionError);
    CHECK_THROWS_WITH(parse_postfix("x0 add"),
                      "`x0 add`, column 4: `add` needs 2 operands and finds 1");
    CHECK_THROWS_WITH(parse_postfix("x0 x1"),
                      "`x0 x1`, column 6: it leaves 2 values instead of one");
    CHECK_THROWS_AS(parse_postfix(""), ExpressionError);
    CHECK_THROWS_AS(parse_postfix("x-0"), ExpressionError);
    CHECK(input_count(parse_infix("x2147483646")) == 2147483647);
    CHECK_THROWS_AS(parse_infix("x2147483647"), ExpressionError);
}

TEST_CASE("a mistake has its column and, where there is one, a suggestion") {
    const auto mistake = [](const char* text) {
        try {
            parse_infix(text);
        } catch (const ExpressionError& error) {
            return std::to_string(error.column()) + ": " + error.reason() + "; " + error.help();
        }
        return std::string("none");
    };
    CHECK(mistake("x * sigmoyd(x)") ==
          "5: `sigmoyd` is neither an input nor a function; did you mean `sigmoid`?");
    CHECK(mistake("x + max(x)") == "5: `max` takes 2 operands, not 1; ");
    CHECK(mistake("x $ 2") == "3: expected an operator, not `$`; ");
    CHECK(mistake("add(x, x)").starts_with("1: `add` is neither"));
    const std::string deep = std::string(100, '(') + "x" + std::string(100, ')');
    CHECK(mistake(deep.c_str()).find("nested deeper than 64") != std::string::npos);
    CHECK(mistake((std::string(100, '-') + "x").c_str()).find("nested") != std::string::npos);
    CHECK(mistake(("x" + std::string(1000, ' ')).c_str()).find("1001 bytes") != std::string::npos);
}

TEST_CASE("comparisons") {
    CHECK(postfix("x0 < x1") == "x1 x0 gt");
    CHECK(postfix("x0 <= x1") == "x1 x0 ge");
    CHECK(postfix("x0 >= x1 + 1") == "x0 x1 1 add ge");
    CHECK(postfix("x0 == x1") == "x0 x1 eq");
    CHECK(postfix("x0 != x1") == "1 x0 x1 eq sub");
    CHECK(simple("x0 * (x1 >= 0)") == "x0 x1 0 ge mul");
    CHECK(to_postfix(differentiate(parse_infix("select(x >= 0, x * x, 0)"), 0)) ==
          "x0 0 ge x0 x0 add 0 select");
}

TEST_CASE("functions that are exact near 0, and their derivatives") {
    const auto at = [](const char* infix, double x) {
        const std::array<double, 1> inputs{x};
        return evaluate(parse_infix(infix), inputs);
    };
    const auto slope = [](const char* infix, double x) {
        const std::array<double, 1> inputs{x};
        return evaluate(differentiate(parse_infix(infix), 0), inputs);
    };
    CHECK(at("expm1(x)", 1e-20) == 1e-20);
    CHECK(at("log1p(x)", 1e-20) == 1e-20);
    CHECK(at("atanh(x)", 0.5) == doctest::Approx(0.5 * std::log(3.0)).epsilon(1e-15));
    CHECK(at("erf(x)", 0.5) == doctest::Approx(0.5204998778130465).epsilon(1e-15));
    CHECK(slope("expm1(x)", 2) == doctest::Approx(std::exp(2.0)).epsilon(1e-15));
    CHECK(slope("log1p(x)", 3) == doctest::Approx(0.25).epsilon(1e-15));
    CHECK(slope("atanh(x)", 0.6) == doctest::Approx(1 / 0.64).epsilon(1e-15));
    CHECK(slope("erf(x)", 0) == doctest::Approx(2 / std::sqrt(M_PI)).epsilon(1e-15));
    CHECK(slope("abs(3 * x)", 2) == 3);
    CHECK(slope("abs(3 * x)", -2) == -3);
    CHECK(slope("abs(3 * x)", 0) == 0);
    CHECK(slope("abs(3 * x)", -0.0) == 0);
}

TEST_CASE("simplification folds constants and drops what does nothing") {
    CHECK(simple("x + 0") == "x0 0 add");  // 0 where x is -0
    CHECK(simple("1 * x / 1 - 0") == "x0");
    CHECK(simple("0 * exp(x)") == "0 x0 exp mul");  // not-a-number where exp(x) is infinite
    CHECK(simple("0 / x") == "0 x0 div");
    CHECK(simple("x ** 1") == "x0");
    CHECK(simple("x ** 2") == "x0 square");
    CHECK(simple("(2 * x) ** -1") == "1 2 x0 mul div");
    CHECK(simple("x ** 0") == "1");
    CHECK(simple("x ** 2.5") == "x0 2.5 pow");
    CHECK(simple("2 * 3 + x") == "6 x0 add");
    CHECK(simple("0 - x") == "0 x0 sub");
    CHECK(simple("--x") == "x0");
    CHECK(simple("select(1 > 0, x, 3)") == "x0");
    CHECK(simple("select(x > 0, 2, 2)") == "2");
    CHECK(simple("select(x > 0, 0, -0)") == "x0 0 gt 0 -0 select");
    CHECK(simple("select(x > 0, 1, -0)") == "x0 0 gt 1 -0 select");
    CHECK(simple("select(x > 0, 1, 0)") == "x0 0 gt");
    CHECK(simple("x - -0") == "x0 -0 sub");
    CHECK(simple("x0 * (x1 > 0)") == "x0 x1 0 gt mul");
    CHECK(simple("1 / 0") == "1 0 div");  // not folded: the result is no number
}

TEST_CASE("a product with a derivative is 0 where the derivative is, whatever the other factor") {
    const auto of = [](const char* a, const char* b) {
        return to_postfix(product(parse_infix(a), parse_infix(b)));
    };
    CHECK(of("x0", "x1 > 0") == "x1 0 gt x0 0 select");
    CHECK(of("exp(x0)", "0") == "0");
    CHECK(of("1", "tanh(x0)") == "x0 tanh");
    CHECK(of("x0", "select(x1 > 0, exp(x1), 0)") == "x1 0 gt x0 x1 exp mul 0 select");
}

TEST_CASE("powers") {
    CHECK(postfix("2 ** 3 ** 2") == "2 3 square pow");
    CHECK(postfix("-x ** 2") == "x0 square neg");
    CHECK(postfix("pow(x, 3 - 1)") == "x0 square");
    CHECK(to_postfix(substitute(parse_infix("x0 ** x1"),
                                {Expression::input_at(0), Expression::constant(-1)})) ==
          "1 x0 div");
    // C's pow may round otherwise than a product or a quotient does.
    CHECK(to_postfix(simplify(parse_postfix("x0 2 pow"))) == "x0 2 pow");
    CHECK(postfix("x ** -2 * 3") == "x0 2 neg pow 3 mul");
    CHECK(postfix("where(x > 0, floor(x), pow(x, 2))") == "x0 0 gt x0 floor x0 square select");
    CHECK(to_postfix(differentiate(parse_infix("x ** 3"), 0)) == "3 x0 square mul");
    CHECK(to_postfix(differentiate(parse_infix("floor(x)"), 0)) == "0");
    CHECK_THROWS_WITH(parse_infix("x **"),
                      "`x **`, column 5: expected a number, an input or a function");
    // The slope by the exponent at a base of 0.
    CHECK(evaluate(differentiate(parse_infix("x0 ** x1"), 1), std::array{0.0, 2.0}) == 0);
}

TEST_CASE("simplification changes no value of a random expression, and is done once") {
    std::mt19937_64 random(seed_of(7));
    const double special[] = {0.0,      -0.0,      1.0, -1.0,   0.5,   2.0,
                              INFINITY, -INFINITY, NAN, 5e-324, 1e308, -3.25};
    for (long trial = 0; trial < trials_of(3000); ++trial) {
        const Expression e = random_expression(random, 5);
        const Expression s = simplify(e);
        CAPTURE(to_postfix(e));
        CAPTURE(to_postfix(s));
        CHECK(simplify(s) == s);
        CHECK(parse_postfix(to_postfix(e)) == e);
        for (const double x : special)
            for (const double y : special) {
                const double before = evaluate(e, std::array{x, y});
                const double after = evaluate(s, std::array{x, y});
                const bool alike =
                    (std::isnan(before) && std::isnan(after)) ||
                    std::bit_cast<std::uint64_t>(before) == std::bit_cast<std::uint64_t>(after);
                if (!alike) {
                    CAPTURE(x);
                    CAPTURE(y);
                    CHECK(before == after);
                }
            }
    }
}

TEST_CASE("symbolic derivatives of random expressions agree with central differences") {
    std::mt19937_64 random(seed_of(11));
    std::uniform_real_distribution<double> point(-2, 2);
    int compared = 0;
    for (long trial = 0; trial < trials_of(2000); ++trial) {
        const Expression e = random_expression(random, 4);
        const std::array<double, 2> at{point(random), point(random)};
        if (!is_regular(e, at)) continue;
        for (int by = 0; by < 2; ++by) {
            const auto difference = [&](double h) {
                auto before = at, after = at;
                before[std::size_t(by)] -= h;
                after[std::size_t(by)] += h;
                return (evaluate(e, after) - evaluate(e, before)) / (2 * h);
            };
            // Two steps that agree show neither a kink nor cancellation nearby.
            const double coarse = difference(1e-4), fine = difference(5e-5);
            if (!std::isfinite(coarse) || std::abs(coarse - fine) > 1e-6 * (1 + std::abs(fine)))
                continue;
            const double symbolic = evaluate(differentiate(e, by), at);
            CAPTURE(to_postfix(e));
            CAPTURE(by);
            CAPTURE(at[0]);
            CAPTURE(at[1]);
            CHECK(symbolic == doctest::Approx(fine).epsilon(1e-4));
            ++compared;
        }
    }
    CHECK(compared > 900);
}

TEST_CASE("what is printed infix reads back as the same expression") {
    std::mt19937_64 random(13);
    std::uniform_real_distribution<double> point(-2, 2);
    for (int i = 0; i < 2000; ++i) {
        const Expression e = random_expression(random, 5);
        const std::string text = to_infix(e);
        CAPTURE(text);
        if (text.size() > kMaximumExpressionBytes) continue;
        // Signs of numbers have two forms, and a square is read as a power; values tell.
        const Expression again = simplify(parse_infix(text));
        const std::array<double, 2> at{point(random), point(random)};
        const double ours = evaluate(simplify(e), at), theirs = evaluate(again, at);
        CHECK((ours == theirs || (std::isnan(ours) && std::isnan(theirs)) ||
               std::fabs(ours - theirs) <= 1e-12 * std::fabs(ours)));
    }
    const auto printed = [](const char* infix) {
        return to_infix(parse_infix(infix, {"x", "b"}), {"x", "b"});
    };
    for (const char* same : {"x * sigmoid(b * x)", "x - (b - x)", "(x - b) ** 2", "x / (b * x) * 3",
                             "where(x > 0, x, b * (x + 1))", "-x ** b", "(-x) ** b", "2 ** x ** b",
                             "(2 ** x) ** b", "max(x, 0) == b"})
        CHECK(printed(same) == same);
}

TEST_CASE("inputs by channel are told from those by element") {
    const Expression e = parse_postfix("x0 c1 mul c2 add");
    CHECK(to_postfix(e) == "x0 c1 mul c2 add");
    CHECK(reads_as(e, 1, true));
    CHECK_FALSE(reads_as(e, 1, false));
    CHECK(to_postfix(renumber(e, {2, 0, 1})) == "x2 c0 mul c1 add");
    CHECK(to_postfix(differentiate(e, 0)) == "c1");
    CHECK(to_postfix(differentiate(e, 1)) == "x0");
    CHECK(to_postfix(substitute(e, {Expression::constant(3), Expression::channel_input_at(4),
                                    Expression::input_at(1)})) == "3 c4 mul x1 add");
    // Texts of users have names; c1 is none.
    CHECK_THROWS_AS(parse_infix("x0 * c1"), ExpressionError);
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
                before[std::size_t(by)] -= h;
                after[std::size_t(by)] += h;
                const double numeric = (evaluate(e, after) - evaluate(e, before)) / (2 * h);
                CHECK(evaluate(d, point) == doctest::Approx(numeric).epsilon(1e-7));
            }
        }
    }
}

}  // namespace expression_test
