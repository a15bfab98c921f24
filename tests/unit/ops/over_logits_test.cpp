#include "compiler/ops/loss/over_logits.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "base/expression/expression.hpp"
#include "compiler/ops/expression/parse_infix.hpp"

namespace over_logits_test {

using namespace dtnn;
using namespace dtnn::compiler;

namespace {

/// A loss of one number x and its target, by what x is squashed to.
struct Loss {
    Expression value, slope;

    Loss(const char* infix, Squash squash) {
        const auto over =
            over_logits({{"expression", to_postfix(parse_infix(infix, {"p", "t"}))}}, squash);
        REQUIRE(over);
        value = parse_postfix(std::get<std::string>(over->at("expression")));
        const auto given = over->find("derivative");
        slope = given == over->end() ? differentiate(value, 0)
                                     : parse_postfix(std::get<std::string>(given->second));
    }
    double at(double x, double t) const { return evaluate(value, std::vector<double>{x, t}); }
    double slope_at(double x, double t) const { return evaluate(slope, std::vector<double>{x, t}); }
};

constexpr const char* kFocal = "select(t == 0, 0, -t * (1 - p) ** 2 * log(p))";
constexpr const char* kBinaryFocal = "-t * (1 - p) ** 2 * log(p) - (1 - t) * p ** 2 * log(1 - p)";
constexpr const char* kEntropy = "-t * log(p) - (1 - t) * log1p(-p)";

}  // namespace

TEST_CASE("the worst sample of a softmax has the slope of its logarithm") {
    const Loss focal(kFocal, Squash::softmax);
    // Over log p: the logit of the right class is hundreds below the largest.
    for (const double logarithm : {-30.0, -100.0, -700.0}) {
        CHECK(focal.at(logarithm, 1) == doctest::Approx(-logarithm));
        CHECK(focal.slope_at(logarithm, 1) == doctest::Approx(-1));
        CHECK(focal.at(logarithm, 0) == 0);
        CHECK(focal.slope_at(logarithm, 0) == 0);
    }
    CHECK(focal.at(0, 1) == 0);
    CHECK(std::abs(focal.slope_at(0, 1)) == 0);
}

TEST_CASE("the worst sample of a sigmoid has the slope of its logarithm") {
    for (const char* formula : {kBinaryFocal, kEntropy}) {
        CAPTURE(formula);
        const Loss loss(formula, Squash::sigmoid);
        for (const double x : {40.0, 100.0, 700.0}) {
            CHECK(loss.at(-x, 1) == doctest::Approx(x));
            CHECK(loss.slope_at(-x, 1) == doctest::Approx(-1));
            CHECK(loss.at(x, 0) == doctest::Approx(x));
            CHECK(loss.slope_at(x, 0) == doctest::Approx(1));
            CHECK(loss.at(x, 1) == doctest::Approx(0));
            CHECK(loss.slope_at(x, 1) == doctest::Approx(0));
        }
    }
    // |x| has no slope at 0, which the logits of silent layers are.
    CHECK(Loss(kEntropy, Squash::sigmoid).slope_at(0, 1) == doctest::Approx(-0.5));
    CHECK(Loss(kEntropy, Squash::sigmoid).slope_at(0, 0) == doctest::Approx(0.5));
}

TEST_CASE("values and slopes are those of the formula as it is written") {
    const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
    for (const char* formula :
         {kFocal, kBinaryFocal, kEntropy, "p * log(p) + t * p", "(1 - p) * log(1 - p) * t"}) {
        CAPTURE(formula);
        const Expression written = parse_infix(formula, {"p", "t"});
        const Loss of_sigmoid(formula, Squash::sigmoid), of_softmax(formula, Squash::softmax);
        const auto value = [&](double p, double t) {
            return evaluate(written, std::vector<double>{p, t});
        };
        constexpr double kStep = 1e-6;
        for (const double x : {-3.0, -0.5, 0.25, 2.0})
            for (const double t : {0.0, 0.3, 1.0}) {
                CHECK(of_sigmoid.at(x, t) == doctest::Approx(value(sigmoid(x), t)));
                const double slope =
                    (value(sigmoid(x + kStep), t) - value(sigmoid(x - kStep), t)) / (2 * kStep);
                CHECK(of_sigmoid.slope_at(x, t) == doctest::Approx(slope).epsilon(1e-6));
                const double l = -std::abs(x);
                CHECK(of_softmax.at(l, t) == doctest::Approx(value(std::exp(l), t)));
                const double down =
                    (value(std::exp(l + kStep), t) - value(std::exp(l - kStep), t)) / (2 * kStep);
                CHECK(of_softmax.slope_at(l, t) == doctest::Approx(down).epsilon(1e-6));
            }
    }
}

TEST_CASE("formulas without such a logarithm are left alone") {
    const auto over = [](const char* infix) {
        return over_logits({{"expression", to_postfix(parse_infix(infix, {"p", "t"}))}},
                           Squash::softmax);
    };
    CHECK_FALSE(over("(p - t) ** 2"));
    CHECK_FALSE(over("-t * log(max(p, 1e-12))"));
    CHECK_FALSE(over("-p * log(t)"));
    // A constant of its slope would be infinite, which it is not over p.
    CHECK_FALSE(over("log(p) * 1e200 * 1e200 * t"));
    CHECK_FALSE(
        over_logits({{"expression", "x0 log"}, {"derivative", "1 x0 div"}}, Squash::softmax));
}

}  // namespace over_logits_test
