#pragma once
/// Datasets of tables: what their fields must be besides texts and numbers.

#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/specs.hpp"

namespace dtnn::compiler {

/// Which columns are labels, which are left out, and what stands between them. `spec.dataset` has
/// what was written.
void check_table(const FieldValues& fields, const DatasetSpec& spec, Diagnostics& diagnostics);

}  // namespace dtnn::compiler
