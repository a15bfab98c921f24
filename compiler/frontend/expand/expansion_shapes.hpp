#pragma once
/// The shapes of layers while a model is expanded, by the operators' shape rules for one sample.

#include "compiler/frontend/formula/environment.hpp"
#include "compiler/frontend/specs.hpp"
#include "compiler/ops/op.hpp"

namespace dtnn::compiler {

/// The shape of what a source gives: a layer of the model, -1 its input.
SampleShape shape_of(const ModelSpec& model, int source);

/// Of a batch of samples.
Type type_of_batch(std::int64_t batch, DType dtype, const SampleShape& sample);

/// Sets the shape of a layer that the model does not have yet; reports when the operator cannot
/// work on its inputs. Where one of them is unknown, so is the result.
void infer_shape(const ModelSpec& model, const OpDef& op, LayerSpec& layer,
                 Diagnostics& diagnostics);

}  // namespace dtnn::compiler
