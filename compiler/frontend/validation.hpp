#pragma once
/// Composed trees to spec structs: every field checked against its table, every name against what
/// exists.

#include "compiler/frontend/source_tree.hpp"
#include "compiler/frontend/specs.hpp"
#include "compiler/frontend/value_reader.hpp"

namespace dtnn::compiler {

/// These report every mistake and return what is sound.
ModelSpec read_model(const SourceNode& tree, const std::string& default_name,
                     Diagnostics& diagnostics);
DatasetSpec read_dataset(const SourceNode& tree, const std::string& default_name,
                         Diagnostics& diagnostics);
TrainingSpec read_training(const SourceNode& tree, Diagnostics& diagnostics);

/// Names of jobs, models and datasets become parts of file names.
void check_spec_name(const FieldValues& fields, const std::string& what, Diagnostics& diagnostics);

/// Three positive extents, not too large; else a diagnostic.
void check_sample_shape(const plan::Dims& shape, const Span& span, const std::string& what,
                        Diagnostics& diagnostics);

}  // namespace dtnn::compiler
