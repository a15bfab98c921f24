#pragma once
/// Walks over images. Neighbouring threads have neighbouring channels.

#include "kernels/cuda/divider.hpp"
#include "kernels/cuda/launch.hpp"
#include "kernels/layout.hpp"

namespace dtnn::kernels::cuda {

/// f(n, c, h, w) for all elements of an image.
template <class F>
static void each_element(const Launch& launch, const ImageLayout& image, const F& f) {
    const std::int64_t count = image.pixels() * image.channels;
    const Divider channels(image.channels), height(image.height), width(image.width);
    launch.each(count, [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t pixel = channels.quotient(i), row = width.quotient(pixel);
        const std::int64_t n = height.quotient(row);
        f(n, i - pixel * channels.by(), row - n * height.by(), pixel - row * width.by());
    });
}

}  // namespace dtnn::kernels::cuda
