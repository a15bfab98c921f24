#pragma once
/// The fields that a dataset's spec may leave out because its files say them.

#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/frontend/specs.hpp"
#include "compiler/frontend/tables/components.hpp"

namespace dtnn::compiler {

/// Asks `find` for the fields of `type` that may be found and are not given, and puts them among
/// `fields` as if they had been written; notes their names, and the classes' names where the files
/// have some, in `spec`. What cannot be found is a diagnostic. `spec.dataset` has all that was
/// written. Nothing is looked at after an error.
void fill_from_files(FieldValues& fields, const ComponentInfo& type, const FindData& find,
                     DatasetSpec& spec, Diagnostics& diagnostics);

}  // namespace dtnn::compiler
