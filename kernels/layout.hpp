#pragma once
/// Where the elements of a tensor lie.

#include <array>

#include "kernels/device.hpp"
#include "kernels/problem.hpp"

namespace dtnn::kernels {

/// A tensor of rank 2 to 4 as an image: missing axes have one element.
struct ImageLayout {
    std::int64_t batch = 1, channels = 1, height = 1, width = 1;
    std::int64_t batch_stride = 0, channel_stride = 0, row_stride = 0, column_stride = 0;

    DTNN_DEVICE std::int64_t at(std::int64_t n, std::int64_t c, std::int64_t h,
                                std::int64_t w) const {
        return n * batch_stride + c * channel_stride + h * row_stride + w * column_stride;
    }
    DTNN_DEVICE std::int64_t pixels() const { return batch * height * width; }
};
ImageLayout image_layout(const TensorDesc& tensor);

}  // namespace dtnn::kernels
