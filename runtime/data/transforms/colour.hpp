#pragma once
/// Steps that change the values of an image's pixels and leave them where they are: pure functions
/// of pixels in [0, 1], whose results stay there. Red, green and blue are the channels in this
/// order.

#include "runtime/data/transforms/image_view.hpp"

namespace dtnn::runtime {

/// One channel: 0.299 red + 0.587 green + 0.114 blue (ITU-R BT.601). A sample of one channel stays
/// as it is.
void to_gray(const ImageView& image);

/// factor * pixel.
void change_brightness(const ImageView& image, float factor);

/// factor * pixel + (1 - factor) * (mean of the sample in gray).
void change_contrast(const ImageView& image, float factor);

/// factor * pixel + (1 - factor) * (the pixel in gray). Three channels.
void change_saturation(const ImageView& image, float factor);

}  // namespace dtnn::runtime
