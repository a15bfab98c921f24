#include "compiler/ops/expression/formula_fault.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/text.hpp"

namespace dtnn::compiler {
namespace {

/// "infinite" or "not a number": the value of a part without inputs that is one (1/0, log(0)).
std::optional<std::string> endless_part(const Expression& expression) {
    if (input_count(expression) == 0) {
        const double value = evaluate(expression, {});
        if (std::isfinite(value)) return std::nullopt;
        return std::isnan(value) ? "not a number" : "infinite";
    }
    for (const Expression& operand : expression.operands)
        if (auto found = endless_part(operand)) return found;
    return std::nullopt;
}

}  // namespace

std::optional<ShapeError> constants_fault(const Expression& expression) {
    const auto endless = endless_part(expression);
    if (!endless) return std::nullopt;
    return ShapeError{fmt::format("a part of the expression reads no input and is {}", *endless),
                      "such as 1/0 or log(0); every constant must be a finite number",
                      "expression"};
}

std::optional<ShapeError> formula_fault(const Expression& formula) {
    if (auto fault = constants_fault(formula)) return fault;
    for (int i = 0; i < input_count(formula); ++i) {
        if (!reads(formula, i)) continue;
        const auto slope = differentiate_within(formula, i, kMostDerivativeOperations);
        if (!slope)
            return ShapeError{
                fmt::format("the derivative of the expression has more than {} operations",
                            grouped(kMostDerivativeOperations)),
                "write powers (x ** 9) in place of products of equal factors, or several layers "
                "that do a part each",
                "expression"};
        if (const auto endless = endless_part(*slope))
            return ShapeError{
                fmt::format("a part of the expression's derivative is {} whatever the input",
                            *endless),
                "as of x / 0, x * 1e308 * 10 or x / 1e-320: its numbers must be such that their "
                "products and quotients are finite",
                "expression"};
    }
    return std::nullopt;
}

}  // namespace dtnn::compiler
