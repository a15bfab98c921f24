#pragma once
/// Elementwise arithmetic as people write it.

#include <string>
#include <string_view>
#include <vector>

#include "base/expression/expression.hpp"

namespace dtnn::compiler {

/// Of a text, so that no spec takes much time or stack.
inline constexpr std::size_t kMaximumExpressionBytes = 1000;
inline constexpr int kMaximumExpressionDepth = 64;

/// Infix: + - * / ** and one comparison (> >= < <= == !=) with the usual precedence, unary minus,
/// and calls of the terms that are called (base/expression/terms.def); `where` is select. Inputs
/// are x0, x1, ... and x, which is x0; or they are called by `names`, in that order. Throws
/// ExpressionError.
Expression parse_infix(std::string_view text, const std::vector<std::string>& names = {});
/// The functions of infix texts.
std::vector<std::string> expression_words();

}  // namespace dtnn::compiler
