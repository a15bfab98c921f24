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

void to_gray(Sample& sample) {
    if (sample.channels != 3) return;
    const std::size_t plane = sample.pixels.size() / 3;
    float* const pixels = sample.pixels.data();
    for (std::size_t i = 0; i < plane; ++i)
        pixels[i] = gray(pixels[i], pixels[i + plane], pixels[i + 2 * plane]);
    sample.set_shape(1, sample.height, sample.width);
}

void change_brightness(Sample& sample, float factor) {
    for (float& pixel : sample.pixels)
        pixel = within(factor * pixel);
}

void change_contrast(Sample& sample, float factor) {
    const std::size_t plane = sample.pixels.size() / std::size_t(sample.channels);
    const float* const pixels = sample.pixels.data();
    double sum = 0;
    for (std::size_t i = 0; i < plane; ++i)
        sum +=
            double(sample.channels == 3 ? gray(pixels[i], pixels[i + plane], pixels[i + 2 * plane])
                                        : pixels[i]);
    const float other = (1 - factor) * float(sum / double(plane));
    for (float& pixel : sample.pixels)
        pixel = within(factor * pixel + other);
}

void change_saturation(Sample& sample, float factor) {
    const std::size_t plane = sample.pixels.size() / 3;
    float* const pixels = sample.pixels.data();
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
