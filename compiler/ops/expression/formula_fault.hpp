#pragma once
/// Formulas of specs that read well and still cannot be trained with.

#include <optional>

#include "base/expression/expression.hpp"
#include "compiler/ops/op.hpp"

namespace dtnn::compiler {

/// The most operations of a formula's derivative. A product of n factors has one of about n^2 / 2.
inline constexpr std::int64_t kMostDerivativeOperations = 10'000;

/// A part without inputs that is no finite number. The field is `expression`.
std::optional<ShapeError> constants_fault(const Expression& expression);
/// The same, in the formula or in its derivative by one of its inputs, as of x / 0; or a derivative
/// that is too long.
std::optional<ShapeError> formula_fault(const Expression& formula);

}  // namespace dtnn::compiler
