#pragma once
/// The columns of a convolution (conv_columns.hpp) for a part of the pixels of its result.

#include "kernels/cuda/divider.hpp"
#include "kernels/cuda/packs.hpp"

namespace dtnn::kernels::cuda {

/// columns[row * stride + tap * C + c] for the pixels first .. first + rows - 1; what lies behind
/// the last tap is 0. The images have their pixels one behind the other, so that what is under a
/// row of the window lies together; the window's columns are neighbours (dilation_width is 1), and
/// `stride` is a multiple of 8.
template <class T>
static void gather_columns(const Launch& launch, const ConvShape& s, const T* src,
                           std::int64_t first, std::int64_t rows, std::int64_t stride, T* columns) {
    constexpr int W = 16 / int(sizeof(T));
    const Divider packs(stride / W), run(s.kernel_width * s.channels);
    const Divider out_width(s.out_width), out_height(s.out_height);
    const std::int64_t of_line = s.width * s.channels;
    const bool whole = s.channels % W == 0;  // a pack is of one pixel
    launch.each(rows * packs.by(), [=] DTNN_DEVICE(std::int64_t i) {
        const std::int64_t row = packs.quotient(i), k = (i - row * packs.by()) * W;
        const std::int64_t line = out_width.quotient(first + row);
        const std::int64_t n = out_height.quotient(line);
        const std::int64_t y = line - n * out_height.by(), x = first + row - line * out_width.by();
        const std::int64_t left = (x * s.stride_width - s.pad_left) * s.channels;
        std::int64_t kh = run.quotient(k), place = left + k - kh * run.by();
        const std::int64_t end = left + run.by();
        Pack<T, W> pack;
        if (whole) {
            const std::int64_t h = y * s.stride_height - s.pad_top + kh * s.dilation_height;
            const bool inside =
                kh < s.kernel_height && h >= 0 && h < s.height && place >= 0 && place < of_line;
            for (int w = 0; w < W; ++w)
                pack.of[w] = T(0);
            if (inside) pack = pack_at<T, W>(src + (n * s.height + h) * of_line + place);
            store(pack, columns + row * stride + k);
            return;
        }
        for (int w = 0; w < W; ++w) {
            const std::int64_t h = y * s.stride_height - s.pad_top + kh * s.dilation_height;
            const bool inside =
                kh < s.kernel_height && h >= 0 && h < s.height && place >= 0 && place < of_line;
            pack.of[w] = inside ? src[(n * s.height + h) * of_line + place] : T(0);
            if (++place == end) {
                place = left;
                ++kh;
            }
        }
        store(pack, columns + row * stride + k);
    });
}

}  // namespace dtnn::kernels::cuda
