#pragma once
/// The shapes of layers while a model is expanded, by the operators' shape rules for one sample.

#include "compiler/frontend/specs.hpp"
#include "compiler/ops/op.hpp"

namespace dtnn::compiler {

/// The shape of what a source gives, without the batch: a layer of the model, -1 its input. Empty:
/// unknown after a diagnostic.
const Dims& shape_of(const ModelSpec& model, int source);

/// Sets the shape of a layer that the model does not have yet; reports when the operator cannot
/// work on its inputs. Where one of them is unknown, so is the result.
void infer_shape(const ModelSpec& model, const OpDef& op, LayerSpec& layer,
                 Diagnostics& diagnostics);

}  // namespace dtnn::compiler
