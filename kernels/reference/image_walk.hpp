#pragma once
/// Walks over images, in the order of the logical axes.

#include <cstdint>

#include "kernels/layout.hpp"

namespace dtnn::kernels::reference {

/// Calls visit(n, h, w) for all pixels of a batch.
template <class Visit>
void for_pixels(const ImageLayout& image, Visit visit) {
    for (std::int64_t n = 0; n < image.batch; ++n) {
        for (std::int64_t h = 0; h < image.height; ++h) {
            for (std::int64_t w = 0; w < image.width; ++w)
                visit(n, h, w);
        }
    }
}

/// Calls visit(n, c, h, w) for all elements.
template <class Visit>
void for_each(const ImageLayout& image, Visit visit) {
    for (std::int64_t n = 0; n < image.batch; ++n) {
        for (std::int64_t c = 0; c < image.channels; ++c) {
            for (std::int64_t h = 0; h < image.height; ++h) {
                for (std::int64_t w = 0; w < image.width; ++w)
                    visit(n, c, h, w);
            }
        }
    }
}

}  // namespace dtnn::kernels::reference
