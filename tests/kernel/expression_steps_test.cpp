/// Expressions in steps: every value once, where there are slots for it, and the value of the text.

#include "kernels/arguments/expression_steps.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

namespace dtnn::kernels {
namespace {

Postfix read(const std::string& text) {
    Postfix expression;
    REQUIRE_FALSE(parse_postfix(text, expression).has_value());
    return expression;
}

/// The value by the steps, in double; no slot beyond `slots` may be used.
double value_of(const ExpressionSteps& expression, const std::vector<double>& inputs, int slots) {
    std::vector<double> kept(static_cast<std::size_t>(slots), 0);
    const auto read = [&](const StepOperand& operand) {
        if (operand.from == StepOperand::From::number) return operand.number;
        const std::vector<double>& from = operand.from == StepOperand::From::slot ? kept : inputs;
        REQUIRE(std::size_t(operand.index) < from.size());
        return from[std::size_t(operand.index)];
    };
    if (expression.steps.empty()) return read(expression.value);
    for (const ExpressionStep& step : expression.steps) {
        const double operands[] = {read(step.operands[0]), read(step.operands[1]),
                                   read(step.operands[2])};
        REQUIRE(step.slot < slots);
        kept[std::size_t(step.slot)] = apply_term(step.term, operands);
    }
    return kept[std::size_t(expression.steps.back().slot)];
}

}  // namespace

TEST_CASE("the steps of an expression have its value, and each value once") {
    struct Case {
        const char* text;
        std::size_t steps;
    };
    const std::vector<double> inputs{0.75, -1.25, 2};
    for (const Case& one :
         {Case{"x1", 0}, Case{"0.5", 0}, Case{"x0 x0 mul", 1}, Case{"x0 sigmoid x0 sigmoid mul", 2},
          Case{"x0 x1 sigmoid x1 x1 sigmoid 1 x1 sigmoid sub mul mul add mul", 6},
          Case{"x1 0 gt x0 0 select", 2}, Case{"0 -0 sub x0 add", 2},
          Case{"x2 x2 neg max x2 x2 neg min sub", 4}}) {
        CAPTURE(one.text);
        const Postfix expression = read(one.text);
        const ExpressionSteps steps = steps_of(expression, 8);
        CHECK(steps.steps.size() == one.steps);
        CHECK(value_of(steps, inputs, 8) == evaluate(expression, inputs));
    }
}

TEST_CASE("values that there are no slots for are worked out again") {
    // Ten exponentials, of which all are read once more behind the last.
    std::string sum = "x0 exp", product = "x0 exp";
    std::vector<double> inputs{0.1};
    for (int i = 1; i < 10; ++i) {
        sum += fmt::format(" x{} exp add", i);
        product += fmt::format(" x{} exp mul", i);
        inputs.push_back(0.1 * (i + 1));
    }
    const Postfix expression = read(sum + " " + product + " sub");
    CHECK(steps_of(expression, 16).steps.size() == 10 + 9 + 9 + 1);
    const ExpressionSteps again = steps_of(expression, expression.depth);
    CHECK(again.steps.size() == 20 + 9 + 9 + 1);
    CHECK(value_of(again, inputs, expression.depth) == evaluate(expression, inputs));
}

}  // namespace dtnn::kernels
