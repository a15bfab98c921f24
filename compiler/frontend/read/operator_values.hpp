#pragma once
/// Values of fields that only operators have: initializers and elementwise expressions. As
/// everywhere, nothing comes back after a diagnostic.

#include <optional>
#include <string>

#include "compiler/frontend/yaml/source_tree.hpp"
#include "compiler/support/field_table.hpp"

namespace dtnn::compiler {

/// A name, or one name with its numbers; the canonical text of ops/initializers.hpp.
std::optional<std::string> read_initializer(const SourceNode& node, const Field& field,
                                            const std::string& what, Diagnostics& diagnostics);

/// The text as it was written; what is wrong with it is pointed at by column.
std::optional<std::string> read_expression(const SourceNode& node, const Field& field,
                                           const std::string& what, Diagnostics& diagnostics);

}  // namespace dtnn::compiler
