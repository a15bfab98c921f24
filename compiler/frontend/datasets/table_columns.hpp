#pragma once
/// What the columns of tables become, as a spec says it: `columns` of the type csv.

#include <string>
#include <string_view>

#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/specs.hpp"

namespace dtnn::compiler {

/// How tables are written, and which of their columns are left out: fields of every type of tables.
Field ignored_columns_field(std::string_view doc);
Field ignored_names_field();
Field header_field();
Field separator_field();
Field decimal_field();

/// That labels are different columns, by names in a header or by numbers; else a diagnostic.
bool check_label_choice(const FieldValues& fields, const DatasetSpec& spec,
                        Diagnostics& diagnostics);
/// That a comma does not stand before fractions and between columns.
void check_separators(const FieldValues& fields, const DatasetSpec& spec, Diagnostics& diagnostics);

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
