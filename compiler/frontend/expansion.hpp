#pragma once
/// From the layers of a model as they are written to a flat list: blocks, repeats, choices and
/// branches worked out, expressions evaluated, names given, sources found, fields checked, shapes
/// inferred.

#include <vector>

#include "compiler/frontend/model_language.hpp"
#include "compiler/frontend/specs.hpp"

namespace dtnn::compiler {

/// The operand types of a layer's parameters after its activations, for a batch of `input`'s, in
/// the order of the operator's rules; those the layer does not have are left out.
std::vector<Type> parameter_types(const OpDef& op, const Type& input,
                                  const plan::Attributes& fields);

/// Fills in `model.layers` from the model's list. Reports every mistake; the layers are only
/// meaningful when there is none. Nothing is expanded when there are too many layers.
void expand_layers(const SourceNode& list, const ModelLanguage& language, ModelSpec& model,
                   Diagnostics& diagnostics);

}  // namespace dtnn::compiler
