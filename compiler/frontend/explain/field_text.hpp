#pragma once
/// Fields as people read them: for `dtnnc explain` and the reference pages.

#include <string>

#include "compiler/support/field_table.hpp"

namespace dtnn::compiler {

/// What may be written: "an integer", "f32 | f64", "a list of categorical_accuracy".
std::string values_text(const Field& field);
/// "default 0.9", "optional", "found in the files" or "must be given".
std::string presence_text(const Field& field);
/// The default as a spec has it; empty when there is none. A pair of equal numbers is one number.
std::string default_text(const Field& field);
/// Range and unit: "at least 1", "at most 1024 threads"; empty without.
std::string range_text(const Field& field);
/// "a change of it changes what is trained: updates have another size"; empty of layers' fields.
std::string change_text(const Field& field);

/// A Markdown table: field, values, default, range, what it is; the empty string for no fields.
/// Initializers are linked to `initializers`, a path from the page.
std::string fields_markdown(const FieldTable& table, const std::string& initializers);
/// As the cell of a Markdown table.
std::string markdown_cell(std::string_view text);

}  // namespace dtnn::compiler
