#pragma once
/// What types of datasets share whose samples are tokens, each step's class being the next one.

#include <string_view>

#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/specs.hpp"
#include "compiler/support/field_table.hpp"

namespace dtnn::compiler {

/// The name of the network's input where no model says another.
inline constexpr std::string_view kTokens = "tokens";

Field steps_field();
Field stride_field();
/// Text has no samples that could be drawn: the last of it is kept.
Field next_test_share();

/// The form of the samples, [step] of integers below `classes`, held against the model's input.
void settle_next_tokens(const FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics);

}  // namespace dtnn::compiler
