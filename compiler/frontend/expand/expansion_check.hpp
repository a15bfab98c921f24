#pragma once
/// Layers that no use, repetition or choice expands are still checked, as far as that goes without
/// values.

#include "compiler/frontend/expand/model_language.hpp"

namespace dtnn::compiler {

/// Reports unknown types, unknown and missing fields, values without expressions that their fields
/// do not take, and expressions against the grammar. Lists inside are checked as well.
void check_unexpanded(const SourceNode& list, const ModelLanguage& language,
                      Diagnostics& diagnostics);

}  // namespace dtnn::compiler
