#include "kernels/arguments/pool2d.hpp"
#include "kernels/cuda/divider.hpp"
#include "kernels/cuda/kernel.hpp"
#include "kernels/cuda/reduce.hpp"
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

template <class T>
void average_backward(const AvgPool2dBackwardArguments<T>& a, const Launch& launch) {
    const ImageLayout from = a.diff_dst_layout, to = a.diff_src_layout;
    const PoolBackAxis rows{pool_rows(a.window, to), from.height};
    const PoolBackAxis columns{pool_columns(a.window, to), from.width};
    over_windows<double>(
        launch, to, rows, columns,
        [=] DTNN_DEVICE(double& sum, const WindowCell& at) {
            if (rows.number(at.y, at.h) < 0 || columns.number(at.x, at.w) < 0) return;
            const std::int64_t cells =
                a.divisor > 0 ? a.divisor
                              : rows.forward.inside(at.h) * columns.forward.inside(at.w);
            sum += double(Wide<T>(a.diff_dst[from.at(at.n, at.c, at.h, at.w)]) / Wide<T>(cells));
        },
        [=] DTNN_DEVICE(double& sum, const double& more) { sum += more; },
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x,
                        const double& sum) { a.diff_src[to.at(n, c, y, x)] = T(sum); });
}

}  // namespace

DTNN_CUDA_KERNEL_OF_VALUES(max_pool2d_windows, MaxPool2dArguments) {
    const ImageLayout from = a.src_layout, to = a.dst_layout, of_indices = a.indices_layout;
    const PoolAxis rows = pool_rows(a.window, from), columns = pool_columns(a.window, from);
    over_windows<Largest<T>>(
        launch, to, rows, columns,
        [=] DTNN_DEVICE(Largest<T> & best, const WindowCell& at) {
            best.take(a.src[from.at(at.n, at.c, at.h, at.w)], at.i * columns.kernel + at.j + 1);
        },
        [=] DTNN_DEVICE(Largest<T> & best, const Largest<T>& other) {
            best.take(other.value, other.found);
        },
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x,
                        const Largest<T>& best) {
            a.dst[to.at(n, c, y, x)] = best.value;
            if (a.indices != nullptr)
                a.indices[of_indices.at(n, c, y, x)] =
                    best.found == 0 ? kNoCell : std::uint8_t(best.found - 1);
        });
}

DTNN_CUDA_KERNEL_OF_VALUES(max_pool2d_backward_windows, MaxPool2dBackwardArguments) {
    const ImageLayout from = a.diff_dst_layout, to = a.diff_src_layout;
    const ImageLayout of_indices = a.indices_layout, of_y = a.y_layout;
    const PoolBackAxis rows{pool_rows(a.window, to), from.height};
    const PoolBackAxis columns{pool_columns(a.window, to), from.width};
    const T* const y = a.y;
    over_windows<double>(
        launch, to, rows, columns,
        [=] DTNN_DEVICE(double& sum, const WindowCell& at) {
            const std::int64_t i = rows.number(at.y, at.h), j = columns.number(at.x, at.w);
            if (i < 0 || j < 0) return;
            if (a.indices[of_indices.at(at.n, at.c, at.h, at.w)] != i * columns.forward.kernel + j)
                return;
            if (y != nullptr && !(y[of_y.at(at.n, at.c, at.h, at.w)] > 0)) return;
            sum += double(a.diff_dst[from.at(at.n, at.c, at.h, at.w)]);
        },
        [=] DTNN_DEVICE(double& sum, const double& more) { sum += more; },
        [=] DTNN_DEVICE(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
                        const double& sum) { a.diff_src[to.at(n, c, h, w)] = T(sum); });
}

DTNN_CUDA_KERNEL_OF_VALUES(avg_pool2d_windows, AvgPool2dArguments) {
    const ImageLayout from = a.src_layout, to = a.dst_layout;
    const PoolAxis rows = pool_rows(a.window, from), columns = pool_columns(a.window, from);
    over_windows<double>(
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
