/// The columns that gradients of weights are products of, which no kernel of the host makes.

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "kernels/cuda/conv_columns.hpp"
#include "kernels/cuda/gather_columns.hpp"

namespace dtnn::kernels::cuda {
namespace {

ConvShape shape(std::int64_t channels, std::int64_t kernel, std::int64_t stride,
                std::int64_t dilation, std::int64_t before, std::int64_t behind) {
    ConvShape s;
    s.batch = 2;
    s.channels = channels;
    s.height = 9;
    s.width = 7;
    s.filters = 4;
    s.kernel_height = kernel;
    s.kernel_width = kernel;
    s.stride_height = s.stride_width = stride;
    s.dilation_height = dilation;
    s.pad_top = s.pad_left = before;
    s.pad_bottom = s.pad_right = behind;
    s.out_height = (s.height + before + behind - ((kernel - 1) * dilation + 1)) / stride + 1;
    s.out_width = (s.width + before + behind - kernel) / stride + 1;
    return s;
}

template <class T>
T element(const ConvShape& s, const std::vector<T>& src, std::int64_t pixel, std::int64_t k) {
    if (k >= s.taps() * s.channels) return T(0);
    const std::int64_t tap = k / s.channels, c = k % s.channels;
    const std::int64_t x = pixel % s.out_width, y = pixel / s.out_width % s.out_height;
    const std::int64_t n = pixel / s.out_width / s.out_height;
    const std::int64_t h =
        y * s.stride_height - s.pad_top + tap / s.kernel_width * s.dilation_height;
    const std::int64_t w = x * s.stride_width - s.pad_left + tap % s.kernel_width;
    if (h < 0 || h >= s.height || w < 0 || w >= s.width) return T(0);
    return src[std::size_t(((n * s.height + h) * s.width + w) * s.channels + c)];
}

template <class T>
void check_columns() {
    for (const ConvShape& s :
         {shape(1, 3, 1, 1, 1, 1), shape(3, 7, 2, 1, 3, 3), shape(4, 3, 1, 2, 2, 2),
          shape(8, 3, 2, 1, 0, 1), shape(5, 1, 2, 1, 0, 0), shape(16, 2, 1, 1, 1, 0)}) {
        std::vector<T> src(std::size_t(s.pixels() * s.channels));
        for (std::size_t i = 0; i < src.size(); ++i)
            src[i] = T(int(i % 251) + 1);
        const std::int64_t stride = (s.taps() * s.channels + 7) / 8 * 8;
        // A part from the middle, as if there were no room for all.
        const std::int64_t first = 3, rows = s.out_pixels() - 5;
        std::vector<T> columns(std::size_t(rows * stride), T(-1));
        Kept kept;
        gather_columns(Launch({}, kept), s, src.data(), first, rows, stride, columns.data());
        std::int64_t wrong = 0;
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t k = 0; k < stride; ++k)
                wrong += float(columns[std::size_t(row * stride + k)]) !=
                                 float(element(s, src, first + row, k))
                             ? 1
                             : 0;
        CHECK_MESSAGE(wrong == 0, "channels ", s.channels, ", windows ", s.kernel_width, ": ",
                      wrong, " of ", rows * stride, " elements");
    }
}

}  // namespace

TEST_CASE("columns have what lies under each window, and zeros beside the image") {
    check_columns<float>();
    check_columns<BFloat16>();
}

TEST_CASE("columns are made part by part where there is little room") {
    const ConvShape s = shape(3, 7, 2, 1, 3, 3);
    const ColumnRoom all = column_room(s, 2, std::int64_t{1} << 31);
    CHECK(all.rows == s.out_pixels());
    CHECK(all.stride == 152);
    CHECK(all.bytes >= all.rows * all.stride * 2);
    const ColumnRoom part = column_room(s, 2, kCublasRoom + 152 * 2 * 7);
    CHECK(part.rows > 0);
    CHECK(part.rows <= 7);
    CHECK(column_room(s, 2, kCublasRoom).rows == 0);
    // Tensor cores take eight channels as they are; doubles have exact engines.
    CHECK(column_room(shape(8, 3, 1, 1, 1, 1), 2, std::int64_t{1} << 31).rows == 0);
    CHECK(column_room(shape(8, 3, 1, 1, 1, 1), 4, std::int64_t{1} << 31).rows > 0);
    CHECK(column_room(shape(8, 3, 1, 1, 1, 1), 8, std::int64_t{1} << 31).rows == 0);
}

}  // namespace dtnn::kernels::cuda
