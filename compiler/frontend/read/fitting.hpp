#pragma once
/// A job's model and dataset say of each other what is left out.

#include "compiler/frontend/specs.hpp"
#include "compiler/frontend/yaml/source_tree.hpp"

namespace dtnn::compiler {

/// A dataset that does not say its shape has that of the model's first input.
void fit_shape(const ModelSpec& model, SourceNode& tree);

/// Makes the dataset of a model alone fit it: samples of its input's shape, a class for every
/// prediction, and one for each pixel where the model gives an image of predictions.
void fit_dataset(JobSpec& job, SourceNode& tree, bool model_sound);

/// Whether nobody says what the model reads, so that the dataset does.
bool leaves_input(const SourceNode& model);

/// Gives a model the dataset's shape as its input, and the number of its classes as a parameter.
void fit_model(const DatasetSpec& dataset, SourceNode& model);

}  // namespace dtnn::compiler
