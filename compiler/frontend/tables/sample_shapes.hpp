#pragma once
/// The shapes that transforms and augmentations make of a sample's (channels, height, width; 0:
/// unknown), by their fields. False after a diagnostic: they cannot be given such samples.

#include "compiler/frontend/tables/components.hpp"

namespace dtnn::compiler {

/// The shape of `size`, where it is given.
bool sized_shape(const ReadComponent& read, Dims& shape, Diagnostics& diagnostics);
/// `size`, or `shorter` for the shorter side.
bool resized_shape(const ReadComponent& read, Dims& shape, Diagnostics& diagnostics);
bool cropped_shape(const ReadComponent& read, Dims& shape, Diagnostics& diagnostics);
bool centre_cropped_shape(const ReadComponent& read, Dims& shape, Diagnostics& diagnostics);
bool randomly_cropped_shape(const ReadComponent& read, Dims& shape, Diagnostics& diagnostics);
bool gray_shape(const ReadComponent& read, Dims& shape, Diagnostics& diagnostics);
/// Samples of one channel or three stay as they are.
bool contrasted_shape(const ReadComponent& read, Dims& shape, Diagnostics& diagnostics);
/// Samples of three channels stay as they are.
bool saturated_shape(const ReadComponent& read, Dims& shape, Diagnostics& diagnostics);
/// The numbers of `normalize` are one, or one for each channel.
bool normalized_shape(const ReadComponent& read, Dims& shape, Diagnostics& diagnostics);

}  // namespace dtnn::compiler
