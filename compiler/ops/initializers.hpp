#pragma once
/// Initializers as users write them: a name, or one name with its numbers. As an attribute each is
/// one text, the canonical form:
///
///     glorot_uniform                          no numbers, or all of them their defaults
///     normal: {mean: 0, deviation: 0.01}      all numbers, in the order of the kind's table
///
/// The kinds, their numbers and what may be wrong with them are the plan's (plan/initializer.hpp).

#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/field_table.hpp"

namespace dtnn::compiler {

std::vector<std::string_view> initializer_names();

/// The numbers that a kind takes; null when there is no such kind.
const FieldTable* initializer_table(std::string_view kind);

/// One sentence for people; empty when there is no such kind.
std::string_view initializer_doc(std::string_view kind);

/// The canonical form; `numbers` has a double for every field of the kind's table.
std::string initializer_text(std::string_view kind, const Attributes& numbers);

/// The canonical form, or a bare name, as a record without fans and stream, numbers filled in.
/// Anything else is our bug: texts of users come through the field table.
plan::Initializer parse_initializer(std::string_view text);

}  // namespace dtnn::compiler
