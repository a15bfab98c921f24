#pragma once
/// Results that are made of windows of an image. An axis of them is a plain struct with
///
///     std::int64_t typical() const;                 cells of a result, about (the host asks)
///     DTNN_DEVICE std::int64_t begin(result) const;      the cells of a result have the numbers
///     DTNN_DEVICE std::int64_t end(result) const;        begin .. end - 1
///     DTNN_DEVICE std::int64_t cell(result, number) const;    and lie there

#include <cmath>

#include "kernels/cuda/image.hpp"

namespace dtnn::kernels::cuda {

template <class V>
struct SharedByChannel {
    V by_thread[kThreads];
};

/// For each group and channel: finish(group, c, V) of what take(V&, group, k, c) makes of a V that
/// is zero, for k = 0 .. length(group) - 1. Up to 32 channels side by side, the other threads share
/// the k; merge(V&, const V&) joins what they have, in order.
template <class V, class Length, class Take, class Merge, class Finish>
static void reduce_by_channel(const Launch& launch, std::int64_t groups, std::int64_t channels,
                              const Length& length, const Take& take, const Merge& merge,
                              const Finish& finish) {
    int side_by_side = 32;
    while (side_by_side > 8 && side_by_side / 2 >= channels)
        side_by_side /= 2;
    const int width = side_by_side, lanes = kThreads / width;
    const std::int64_t blocks = (channels + width - 1) / width;
    using Shared = SharedByChannel<V>;
    launch.template groups<Shared>(
        groups * blocks,
        [=] DTNN_DEVICE(std::int64_t block, int thread, Shared& shared) {
            const std::int64_t group = block / blocks, c = block % blocks * width + thread % width;
            if (c >= channels) return;
            V value = {};
            const std::int64_t end = length(group);
            for (std::int64_t k = thread / width; k < end; k += lanes)
                take(value, group, k, c);
            shared.by_thread[thread] = value;
        },
        [=] DTNN_DEVICE(std::int64_t block, int thread, Shared& shared) {
            const std::int64_t group = block / blocks, c = block % blocks * width + thread;
            if (thread >= width || c >= channels) return;
            V value = shared.by_thread[thread];
            for (int lane = 1; lane < lanes; ++lane)
                merge(value, shared.by_thread[thread + lane * width]);
            finish(group, c, value);
        });
}

/// Cell (h, w) of the window of result (y, x); i and j are its numbers along the axes, and c is the
/// first of the channels that are worked on together.
struct WindowCell {
    std::int64_t n, c, y, x, i, j, h, w;
};

/// Windows of so many cells are shared among threads.
inline constexpr std::int64_t kLargeWindow = 64;
template <class Rows, class Columns>
bool are_large(const Rows& rows, const Columns& columns) {
    return rows.typical() * columns.typical() >= kLargeWindow;
}

/// For each element of `result`, or W neighbouring channels of it: finish(n, c, y, x, V) of what
/// take(V&, WindowCell) makes of a V that is zero for all cells of its window; merge as in
/// reduce_by_channel. W is 1 where windows are large.
template <int W, class V, class Rows, class Columns, class Take, class Merge, class Finish>
static void over_windows(const Launch& launch, const ImageLayout& result, const Rows& rows,
                         const Columns& columns, const Take& take, const Merge& merge,
                         const Finish& finish) {
    if (!are_large(rows, columns)) {
        ImageLayout packs = result;
        packs.channels /= W;
        each_element(
            launch, packs,
            [=] DTNN_DEVICE(std::int64_t n, std::int64_t pack, std::int64_t y, std::int64_t x) {
                const std::int64_t c = pack * W;
                V value = {};
                const std::int64_t rows_end = rows.end(y), columns_end = columns.end(x);
                for (std::int64_t i = rows.begin(y); i < rows_end; ++i)
                    for (std::int64_t j = columns.begin(x); j < columns_end; ++j)
                        take(value,
                             WindowCell{n, c, y, x, i, j, rows.cell(y, i), columns.cell(x, j)});
                finish(n, c, y, x, value);
            });
        return;
    }
    const std::int64_t height = result.height, width = result.width;
    reduce_by_channel<V>(
        launch, result.pixels(), result.channels,
        [=] DTNN_DEVICE(std::int64_t pixel) {
            const std::int64_t y = pixel / width % height, x = pixel % width;
            const std::int64_t down = rows.end(y) - rows.begin(y);
            const std::int64_t across = columns.end(x) - columns.begin(x);
            return down > 0 && across > 0 ? down * across : 0;
        },
        [=] DTNN_DEVICE(V & value, std::int64_t pixel, std::int64_t k, std::int64_t c) {
            const std::int64_t y = pixel / width % height, x = pixel % width;
            const std::int64_t first = columns.begin(x), across = columns.end(x) - first;
            const std::int64_t i = rows.begin(y) + k / across, j = first + k % across;
            take(value, WindowCell{pixel / width / height, c, y, x, i, j, rows.cell(y, i),
                                   columns.cell(x, j)});
        },
        merge,
        [=] DTNN_DEVICE(std::int64_t pixel, std::int64_t c, const V& value) {
            finish(pixel / width / height, c, pixel / width % height, pixel % width, value);
        });
}

/// The largest value so far and where it is; of equal ones the first. What is not a number is
/// larger than all numbers, the last of them the largest.
template <class T>
struct LargestInWindow {
    T value;
    int found;  ///< its place + 1; 0: none so far

    DTNN_DEVICE void take(T other, int other_found) {
        if (other_found == 0) return;
        if (found != 0) {
            const bool later = other_found > found;
            if (std::isnan(other)) {
                if (std::isnan(value) && !later) return;
            } else if (std::isnan(value) || other < value || (other == value && later)) {
                return;
            }
        }
        value = other;
        found = other_found;
    }
};

}  // namespace dtnn::kernels::cuda
