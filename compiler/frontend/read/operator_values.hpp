#pragma once
/// Values of fields that only operators have: initializers and elementwise expressions. As
/// everywhere, nothing comes back after a diagnostic.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/expression/expression.hpp"
#include "compiler/frontend/yaml/source_tree.hpp"
#include "compiler/support/field_table.hpp"

namespace dtnn::compiler {

/// A name, or one name with its numbers; the canonical text of ops/initializers.hpp.
std::optional<std::string> read_initializer(const SourceNode& node, const Field& field,
                                            const std::string& what, Diagnostics& diagnostics);

/// The text as it was written; what is wrong with it is pointed at by column.
std::optional<std::string> read_expression(const SourceNode& node, const Field& field,
                                           const std::string& what, Diagnostics& diagnostics);

/// The expression over these names (none: x0, x1, ...) that a scalar has as its text; `field` and
/// `what` begin the message: "`forward` of the operator swish".
std::optional<Expression> read_formula(const SourceNode& node, std::string_view field,
                                       const std::string& what,
                                       const std::vector<std::string>& names,
                                       Diagnostics& diagnostics);

}  // namespace dtnn::compiler
