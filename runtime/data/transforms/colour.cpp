#include "runtime/data/transforms/colour.hpp"

#include <algorithm>

namespace dtnn::runtime {
namespace {

float gray(float red, float green, float blue) {
    return 0.299f * red + 0.587f * green + 0.114f * blue;
}

float within(float value) {
    return std::min(1.0f, std::max(0.0f, value));
}

}  // namespace

void to_gray(const ImageView& image) {
    if (image.channels() != 3) return;
    const std::size_t plane = image.pixels().size() / 3;
    float* const pixels = image.pixels().data();
    for (std::size_t i = 0; i < plane; ++i)
        pixels[i] = gray(pixels[i], pixels[i + plane], pixels[i + 2 * plane]);
    image.set_shape(1, image.height(), image.width());
}

void change_brightness(const ImageView& image, float factor) {
    for (float& pixel : image.pixels())
        pixel = within(factor * pixel);
}

void change_contrast(const ImageView& image, float factor) {
    const std::size_t plane = image.pixels().size() / std::size_t(image.channels());
    const float* const pixels = image.pixels().data();
    const bool coloured = image.channels() == 3;
    double sum = 0;
    for (std::size_t i = 0; i < plane; ++i)
        sum += double(coloured ? gray(pixels[i], pixels[i + plane], pixels[i + 2 * plane])
                               : pixels[i]);
    const float other = (1 - factor) * float(sum / double(plane));
    for (float& pixel : image.pixels())
        pixel = within(factor * pixel + other);
}

void change_saturation(const ImageView& image, float factor) {
    const std::size_t plane = image.pixels().size() / 3;
    float* const pixels = image.pixels().data();
    for (std::size_t i = 0; i < plane; ++i) {
        float& red = pixels[i];
        float& green = pixels[i + plane];
        float& blue = pixels[i + 2 * plane];
        const float other = (1 - factor) * gray(red, green, blue);
        red = within(factor * red + other);
        green = within(factor * green + other);
        blue = within(factor * blue + other);
    }
}

}  // namespace dtnn::runtime
