#include "kernels/arguments/pool2d.hpp"

#include <cmath>

#include "kernels/reference/image_walk.hpp"
#include "kernels/reference/reference.hpp"

namespace dtnn::kernels::reference {
namespace {

/// Calls visit(h, w, place in the window) for every cell of window (oh, ow) that lies inside height
/// x width.
template <class Visit>
void for_cells(const Window2d& window, std::int64_t oh, std::int64_t ow, std::int64_t height,
               std::int64_t width, Visit visit) {
    for (std::int64_t kh = 0; kh < window.kernel_h; ++kh) {
        for (std::int64_t kw = 0; kw < window.kernel_w; ++kw) {
            const std::int64_t h = oh * window.stride_h - window.top + kh * window.dilation_h;
            const std::int64_t w = ow * window.stride_w - window.left + kw * window.dilation_w;
            if (h >= 0 && h < height && w >= 0 && w < width) visit(h, w, kh * window.kernel_w + kw);
        }
    }
}

template <class T>
void average(const AvgPool2dArguments<T>& a) {
    for_each(a.dst_layout, [&](auto n, auto c, auto oh, auto ow) {
        double sum = 0;
        std::int64_t cells = 0;
        for_cells(a.window, oh, ow, a.src_layout.height, a.src_layout.width,
                  [&](auto h, auto w, auto) {
                      sum += double(a.src[a.src_layout.at(n, c, h, w)]);
                      ++cells;
                  });
        if (a.divisor > 0) cells = a.divisor;
        a.dst[a.dst_layout.at(n, c, oh, ow)] = T(cells == 0 ? 0 : sum / double(cells));
    });
}

template <class T>
void average_backward(const AvgPool2dBackwardArguments<T>& a) {
    const ImageLayout& image = a.diff_src_layout;
    for_each(image, [&](auto n, auto c, auto h, auto w) { a.diff_src[image.at(n, c, h, w)] = 0; });
    for_each(a.diff_dst_layout, [&](auto n, auto c, auto oh, auto ow) {
        std::int64_t cells = 0;
        for_cells(a.window, oh, ow, image.height, image.width, [&](auto, auto, auto) { ++cells; });
        if (a.divisor > 0) cells = a.divisor;
        for_cells(a.window, oh, ow, image.height, image.width, [&](auto h, auto w, auto) {
            a.diff_src[image.at(n, c, h, w)] +=
                a.diff_dst[a.diff_dst_layout.at(n, c, oh, ow)] / T(cells);
        });
    });
}

}  // namespace

DTNN_REFERENCE(max_pool2d, MaxPool2dArguments) {
    for_each(a.dst_layout, [&](auto n, auto c, auto oh, auto ow) {
        T best = 0;
        std::uint8_t index = kNoCell;
        for_cells(a.window, oh, ow, a.src_layout.height, a.src_layout.width,
                  [&](auto h, auto w, auto place) {
                      const T value = a.src[a.src_layout.at(n, c, h, w)];
                      if (index != kNoCell && value <= best) return;
                      if (index != kNoCell && std::isnan(best) && !std::isnan(value)) return;
                      best = value;
                      index = std::uint8_t(place);
                  });
        a.dst[a.dst_layout.at(n, c, oh, ow)] = best;
        if (a.indices != nullptr) a.indices[a.indices_layout.at(n, c, oh, ow)] = index;
    });
}

DTNN_REFERENCE(max_pool2d_backward, MaxPool2dBackwardArguments) {
    const ImageLayout& image = a.diff_src_layout;
    for_each(image, [&](auto n, auto c, auto h, auto w) { a.diff_src[image.at(n, c, h, w)] = 0; });
    for_each(a.diff_dst_layout, [&](auto n, auto c, auto oh, auto ow) {
        if (a.y != nullptr && !(a.y[a.y_layout.at(n, c, oh, ow)] > 0)) return;
        const std::uint8_t index = a.indices[a.indices_layout.at(n, c, oh, ow)];
        for_cells(a.window, oh, ow, image.height, image.width, [&](auto h, auto w, auto place) {
            if (place != index) return;
            a.diff_src[image.at(n, c, h, w)] += a.diff_dst[a.diff_dst_layout.at(n, c, oh, ow)];
        });
    });
}

DTNN_REFERENCE(avg_pool2d, AvgPool2dArguments) {
    average(a);
}
DTNN_REFERENCE(global_avg_pool2d, AvgPool2dArguments) {
    average(a);
}
DTNN_REFERENCE(avg_pool2d_backward, AvgPool2dBackwardArguments) {
    average_backward(a);
}
DTNN_REFERENCE(global_avg_pool2d_backward, AvgPool2dBackwardArguments) {
    average_backward(a);
}

}  // namespace dtnn::kernels::reference
