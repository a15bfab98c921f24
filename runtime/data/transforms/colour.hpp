#pragma once
/// Steps that change the values of a sample's pixels and leave them where they are: pure functions
/// of pixels in [0, 1], whose results stay there. Red, green and blue are the channels in this
/// order.

#include "runtime/data/sample_source.hpp"

namespace dtnn::runtime {

/// One channel: 0.299 red + 0.587 green + 0.114 blue (ITU-R BT.601). A sample of one channel stays
/// as it is.
void to_gray(Sample& sample);

/// factor * pixel.
void change_brightness(Sample& sample, float factor);

/// factor * pixel + (1 - factor) * (mean of the sample in gray).
void change_contrast(Sample& sample, float factor);

/// factor * pixel + (1 - factor) * (the pixel in gray). Three channels.
void change_saturation(Sample& sample, float factor);

}  // namespace dtnn::runtime
