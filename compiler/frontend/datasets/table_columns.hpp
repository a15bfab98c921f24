#pragma once
/// What the columns of tables become, as a spec says it: `columns` of the type csv.

#include <string>

#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/specs.hpp"

namespace dtnn::compiler {

/// The fields of one column.
const FieldTable& column_table();

/// Checks which columns are left out or categories, and what is said of what they become, and fills
/// in DatasetSpec's columns, where the spec has them. Before the files are looked at.
void read_columns(FieldValues& fields, DatasetSpec& spec, Diagnostics& diagnostics);

/// That they make a sample of the dataset's shape, and have what its other fields speak of.
void check_columns(const FieldValues& fields, const DatasetSpec& spec, Diagnostics& diagnostics);

/// A column as a flow map, which read_columns reads: {name: age, fill: 28}.
std::string column_text(const plan::FeatureColumn& column);

}  // namespace dtnn::compiler
