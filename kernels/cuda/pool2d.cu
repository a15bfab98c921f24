#include "kernels/arguments/pool2d.hpp"
#include "kernels/cuda/divider.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/packs.hpp"
#include "kernels/cuda/windows.hpp"

namespace dtnn::kernels::cuda {
namespace {

/// An axis of windows (windows.hpp): the cells of window `o` that lie inside the image, by their
/// numbers in the window.
struct PoolAxis {
    std::int64_t kernel, before, extent;
    Divider stride, dilation;

    std::int64_t typical() const { return kernel; }
    DTNN_DEVICE std::int64_t cell(std::int64_t o, std::int64_t k) const {
        return o * stride.by() - before + k * dilation.by();
    }
    DTNN_DEVICE std::int64_t begin(std::int64_t o) const {
        const std::int64_t first = cell(o, 0);
        return first >= 0 ? 0 : dilation.quotient(dilation.by() - 1 - first);
    }
    DTNN_DEVICE std::int64_t end(std::int64_t o) const {
        const std::int64_t left = extent - cell(o, 0);
        if (left <= 0) return 0;
        const std::int64_t inside = dilation.quotient(left + dilation.by() - 1);
        return inside < kernel ? inside : kernel;
    }
    DTNN_DEVICE std::int64_t inside(std::int64_t o) const {
        const std::int64_t count = end(o) - begin(o);
        return count > 0 ? count : 0;
    }
};

/// The axis of the gradient: the "cells" of a cell are the windows over it.
struct PoolBackAxis {
    PoolAxis forward;
    std::int64_t windows;

    std::int64_t typical() const {
        return (forward.kernel * forward.dilation.by() + forward.stride.by() - 1) /
               forward.stride.by();
    }
    DTNN_DEVICE std::int64_t cell(std::int64_t, std::int64_t window) const { return window; }
    DTNN_DEVICE std::int64_t begin(std::int64_t cell) const {
        const std::int64_t reach = (forward.kernel - 1) * forward.dilation.by();
        const std::int64_t past = cell + forward.before - reach;
        return past <= 0 ? 0 : forward.stride.quotient(past + forward.stride.by() - 1);
    }
    DTNN_DEVICE std::int64_t end(std::int64_t cell) const {
        const std::int64_t last = forward.stride.quotient(cell + forward.before) + 1;
        return last < windows ? last : windows;
    }
    /// The cell's number in the window; -1: the window leaves it out.
    DTNN_DEVICE std::int64_t number(std::int64_t cell, std::int64_t window) const {
        const std::int64_t distance = cell - forward.cell(window, 0);
        const std::int64_t number = forward.dilation.quotient(distance);
        return number * forward.dilation.by() == distance ? number : -1;
    }
};

PoolAxis pool_rows(const Window2d& window, const ImageLayout& image) {
    return {window.kernel_h, window.top, image.height, Divider(window.stride_h),
            Divider(window.dilation_h)};
}
PoolAxis pool_columns(const Window2d& window, const ImageLayout& image) {
    return {window.kernel_w, window.left, image.width, Divider(window.stride_w),
            Divider(window.dilation_w)};
}

template <class V, int W>
struct OfChannels {
    V of[W];
};

template <int W, class T>
void average_backward(const AvgPool2dBackwardArguments<T>& a, const Launch& launch) {
    using Gradients = OfChannels<Wide<T>, W>;
    const ImageLayout from = a.diff_dst_layout, to = a.diff_src_layout;
    const PoolBackAxis rows{pool_rows(a.window, to), from.height};
    const PoolBackAxis columns{pool_columns(a.window, to), from.width};
    over_windows<W, Gradients>(
        launch, to, rows, columns,
        [=] DTNN_DEVICE(Gradients & sums, const WindowCell& at) {
            if (rows.number(at.y, at.h) < 0 || columns.number(at.x, at.w) < 0) return;
            const std::int64_t cells =
                a.divisor > 0 ? a.divisor
                              : rows.forward.inside(at.h) * columns.forward.inside(at.w);
            const auto pack = pack_at<T, W>(a.diff_dst + from.at(at.n, at.c, at.h, at.w));
            for (int w = 0; w < W; ++w)
                sums.of[w] += Wide<T>(pack.of[w]) / Wide<T>(cells);
        },
        [=] DTNN_DEVICE(Gradients & sums, const Gradients& more) {
            for (int w = 0; w < W; ++w)
                sums.of[w] += more.of[w];
        },
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x,
                        const Gradients& sums) {
            Pack<T, W> pack;
            for (int w = 0; w < W; ++w)
                pack.of[w] = T(sums.of[w]);
            store(pack, a.diff_src + to.at(n, c, y, x));
        });
}

template <class T>
void average_backward(const AvgPool2dBackwardArguments<T>& a, const Launch& launch) {
    const PoolBackAxis rows{pool_rows(a.window, a.diff_src_layout), a.diff_dst_layout.height};
    const PoolBackAxis columns{pool_columns(a.window, a.diff_src_layout), a.diff_dst_layout.width};
    if (is_packed(a.diff_src_layout) && is_packed(a.diff_dst_layout) && !are_large(rows, columns)) {
        average_backward<kChannelPack>(a, launch);
    } else {
        average_backward<1>(a, launch);
    }
}

template <int W, class T>
void take_largest(const MaxPool2dArguments<T>& a, const Launch& launch) {
    using Best = OfChannels<LargestInWindow<T>, W>;
    const ImageLayout from = a.src_layout, to = a.dst_layout, of_indices = a.indices_layout;
    const PoolAxis rows = pool_rows(a.window, from), columns = pool_columns(a.window, from);
    over_windows<W, Best>(
        launch, to, rows, columns,
        [=] DTNN_DEVICE(Best & best, const WindowCell& at) {
            const auto pack = pack_at<T, W>(a.src + from.at(at.n, at.c, at.h, at.w));
            for (int w = 0; w < W; ++w)
                best.of[w].take(pack.of[w], int(at.i * columns.kernel + at.j + 1));
        },
        [=] DTNN_DEVICE(Best & best, const Best& other) {
            for (int w = 0; w < W; ++w)
                best.of[w].take(other.of[w].value, other.of[w].found);
        },
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x,
                        const Best& best) {
            Pack<T, W> values;
            Pack<std::uint8_t, W> cells;
            for (int w = 0; w < W; ++w) {
                const LargestInWindow<T>& of = best.of[w];
                values.of[w] = of.value;
                cells.of[w] = of.found == 0 ? kNoCell : std::uint8_t(of.found - 1);
            }
            store(values, a.dst + to.at(n, c, y, x));
            if (a.indices != nullptr) store(cells, a.indices + of_indices.at(n, c, y, x));
        });
}

template <int W, class T>
void max_backward(const MaxPool2dBackwardArguments<T>& a, const Launch& launch) {
    using Gradients = OfChannels<Wide<T>, W>;
    const ImageLayout from = a.diff_dst_layout, to = a.diff_src_layout;
    const ImageLayout of_indices = a.indices_layout, of_y = a.y_layout;
    const PoolBackAxis rows{pool_rows(a.window, to), from.height};
    const PoolBackAxis columns{pool_columns(a.window, to), from.width};
    over_windows<W, Gradients>(
        launch, to, rows, columns,
        [=] DTNN_DEVICE(Gradients & sums, const WindowCell& at) {
            const std::int64_t i = rows.number(at.y, at.h), j = columns.number(at.x, at.w);
            if (i < 0 || j < 0) return;
            const std::int64_t cell = i * columns.forward.kernel + j;
            const auto cells =
                pack_at<std::uint8_t, W>(a.indices + of_indices.at(at.n, at.c, at.h, at.w));
            const auto pack = pack_at<T, W>(a.diff_dst + from.at(at.n, at.c, at.h, at.w));
            auto passes = pack;
            if (a.y != nullptr) passes = pack_at<T, W>(a.y + of_y.at(at.n, at.c, at.h, at.w));
            for (int w = 0; w < W; ++w)
                if (cells.of[w] == cell && (a.y == nullptr || passes.of[w] > T(0)))
                    sums.of[w] += Wide<T>(pack.of[w]);
        },
        [=] DTNN_DEVICE(Gradients & sums, const Gradients& more) {
            for (int w = 0; w < W; ++w)
                sums.of[w] += more.of[w];
        },
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
                        const Gradients& sums) {
            Pack<T, W> pack;
            for (int k = 0; k < W; ++k)
                pack.of[k] = T(sums.of[k]);
            store(pack, a.diff_src + to.at(n, c, h, w));
        });
}

}  // namespace

DTNN_CUDA_KERNEL_OF_VALUES(max_pool2d_windows, MaxPool2dArguments) {
    const PoolAxis rows = pool_rows(a.window, a.src_layout);
    const PoolAxis columns = pool_columns(a.window, a.src_layout);
    const bool packed = is_packed(a.src_layout) && is_packed(a.dst_layout) &&
                        (a.indices == nullptr || is_packed(a.indices_layout));
    if (packed && !are_large(rows, columns)) {
        take_largest<kChannelPack>(a, launch);
    } else {
        take_largest<1>(a, launch);
    }
}

DTNN_CUDA_KERNEL_OF_VALUES(max_pool2d_backward_windows, MaxPool2dBackwardArguments) {
    const PoolBackAxis rows{pool_rows(a.window, a.diff_src_layout), a.diff_dst_layout.height};
    const PoolBackAxis columns{pool_columns(a.window, a.diff_src_layout), a.diff_dst_layout.width};
    const bool packed = is_packed(a.diff_src_layout) && is_packed(a.diff_dst_layout) &&
                        is_packed(a.indices_layout) && (a.y == nullptr || is_packed(a.y_layout));
    if (packed && !are_large(rows, columns)) {
        max_backward<kChannelPack>(a, launch);
    } else {
        max_backward<1>(a, launch);
    }
}

DTNN_CUDA_KERNEL_OF_VALUES(avg_pool2d_windows, AvgPool2dArguments) {
    const ImageLayout from = a.src_layout, to = a.dst_layout;
    const PoolAxis rows = pool_rows(a.window, from), columns = pool_columns(a.window, from);
    over_windows<1, double>(
        launch, to, rows, columns,
        [=] DTNN_DEVICE(double& sum, const WindowCell& at) {
            sum += double(a.src[from.at(at.n, at.c, at.h, at.w)]);
        },
        [=] DTNN_DEVICE(double& sum, const double& more) { sum += more; },
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x,
                        const double& sum) {
            const std::int64_t cells =
                a.divisor > 0 ? a.divisor : rows.inside(y) * columns.inside(x);
            a.dst[to.at(n, c, y, x)] = T(cells == 0 ? 0 : sum / double(cells));
        });
}

DTNN_CUDA_KERNEL_OF_VALUES(avg_pool2d_backward_windows, AvgPool2dBackwardArguments) {
    average_backward(a, launch);
}

DTNN_CUDA_KERNEL_OF_VALUES(global_avg_pool2d_columns, AvgPool2dArguments) {
    const ImageLayout from = a.src_layout, to = a.dst_layout;
    const std::int64_t pixels = from.height * from.width;
    const Divider width(from.width);
    reduce_columns<1>(
        launch, from.batch, pixels, from.channels, reinterpret_cast<Sums<1>*>(a.workspace),
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t pixel, std::int64_t c) {
            const std::int64_t row = width.quotient(pixel);
            return Sums<1>{{double(a.src[from.at(n, c, row, pixel - row * width.by())])}};
        },
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, const Sums<1>& sums) {
            a.dst[to.at(n, c, 0, 0)] = T(sums.of[0] / double(pixels));
        });
}

DTNN_CUDA_KERNEL_OF_VALUES(global_avg_pool2d_backward_windows, AvgPool2dBackwardArguments) {
    average_backward(a, launch);
}

}  // namespace dtnn::kernels::cuda
