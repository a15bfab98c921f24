#pragma once
/// The origin of the samples of a dataset's splits.

#include "compiler/frontend/read/validation.hpp"
#include "compiler/frontend/read/value_reader.hpp"
#include "compiler/support/diagnostics.hpp"
#include "compiler/support/field_table.hpp"

namespace dtnn::compiler {

/// Checks what the fields of a type say of test samples and samples of validation - files of their
/// own, or a share of all - and sets what the dataset says of them: `validation_files`, and the
/// folders' names where these are as by default.
void settle_splits(const FieldValues& fields, const FieldTable& type, DatasetSpec& spec,
                   Diagnostics& diagnostics);

}  // namespace dtnn::compiler
