#pragma once
/// An expression as kernels work it out over stretches of elements: one step an operation, and each
/// value once, however often the text has it.

#include <array>
#include <cstdint>
#include <vector>

#include "base/expression/postfix.hpp"

namespace dtnn::kernels {

/// What a step reads: an input's elements, the same number everywhere, or what an earlier step left
/// in a slot.
struct StepOperand {
    enum class From : std::uint8_t { input, number, slot };
    From from = From::number;
    int index = 0;      ///< of the input or the slot
    double number = 0;  ///< From::number
};

struct ExpressionStep {
    Term term = Term::add;
    std::array<StepOperand, 3> operands = {};
    int slot = 0;  ///< of the result; may be one that the step reads
};

/// The last step's result is the expression's; without a step it is `value`.
struct ExpressionSteps {
    std::vector<ExpressionStep> steps;
    StepOperand value;
};

/// Where values that are used again would need more than `slots`, they are worked out again; then
/// an expression of that depth needs no more.
ExpressionSteps steps_of(const Postfix& expression, int slots);

}  // namespace dtnn::kernels
