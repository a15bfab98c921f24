#pragma once
/// From the layers of a model as they are written to a flat list: blocks, repeats, choices and
/// branches worked out, expressions evaluated, names given, sources found, fields checked, shapes
/// inferred.

#include "compiler/frontend/expand/model_language.hpp"
#include "compiler/frontend/specs.hpp"

namespace dtnn::compiler {

/// Fills in `model.layers` from the model's list. Reports every mistake; the layers are only
/// meaningful when there is none. Nothing is expanded when there are too many layers.
void expand_layers(const SourceNode& list, const ModelLanguage& language, ModelSpec& model,
                   Diagnostics& diagnostics);

}  // namespace dtnn::compiler
