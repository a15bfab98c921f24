#pragma once
/// Predictions of a class for every pixel as masks: a PNG for each sample.

#include <memory>
#include <string>

#include "runtime/report/prediction_file.hpp"

namespace dtnn::runtime {

/// FOLDER/STEM.png for each sample, STEM its file's name without folders and ending; where a stem
/// comes again, STEM_INDEX.png. The folder is there once it is whole, and must not hold anything
/// before. Pixels have facts.mask_values of their class, else the class itself. RunError (exit 2)
/// for predictions that are no classes of pixels, or of more than 256.
std::unique_ptr<PredictionWriter> open_masks(const std::string& folder, PredictionFacts facts);

}  // namespace dtnn::runtime
