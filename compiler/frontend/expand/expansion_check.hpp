#pragma once
/// What is checked beside the expansion: layers that no use, repetition or choice expands, as far
/// as that goes without values; and that every layer is read.

#include "compiler/frontend/expand/model_language.hpp"

namespace dtnn::compiler {

/// Reports unknown types, unknown and missing fields, values without expressions that their fields
/// do not take, and expressions against the grammar. Lists inside are checked as well.
void check_unexpanded(const SourceNode& list, const ModelLanguage& language,
                      Diagnostics& diagnostics);

/// Reports inputs with names and layers that nothing reads, but for the one that gives the model's
/// output (kUnknownSource: unknown).
void check_all_read(const ModelSpec& model, int output, Diagnostics& diagnostics);

}  // namespace dtnn::compiler
