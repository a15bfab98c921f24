#pragma once
/// The image of a convolution as the left side of a matrix product, read where it lies: a row for
/// every result and a column for every number that is summed up, [taps, channels], which exist only
/// in panels of a few rows. conv2d_backward_data is a convolution of diff_dst, too, by phases: the
/// results (h, w) with the same h % stride_height and w % stride_width see the same taps, at places
/// that move by one from result to result.

#include <cstdint>

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/simd.hpp"
#include "kernels/workspace/implicit.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Taps and results along one axis: tap j of result i is at the image's place
/// origin + i * scale + j * move.
struct TapAxis {
    std::int64_t size = 0;  ///< of the image
    std::int64_t results = 0, taps = 0;
    std::int64_t origin = 0, scale = 1, move = 1;
    std::int64_t first_tap = 0, tap_step = 1;        ///< tap j of the filter
    std::int64_t first_result = 0, result_step = 1;  ///< result i among all

    static TapAxis forward(std::int64_t size, std::int64_t results, std::int64_t kernel,
                           std::int64_t stride, std::int64_t pad, std::int64_t dilation) {
        return {size, results, kernel, -pad, stride, dilation, 0, 1, 0, 1};
    }

    /// The axis of the gradient, whose results are `size` places: those from `phase` on in steps of
    /// stride. The taps that they see are some `first` and all others a multiple of `step` away;
    /// the last of them is furthest to the front in diff_dst.
    static TapAxis backward(std::int64_t size, std::int64_t results, std::int64_t kernel,
                            std::int64_t stride, std::int64_t pad, std::int64_t dilation,
                            std::int64_t phase) {
        TapAxis axis{results, (size - phase + stride - 1) / stride, 0, 0, 1, 0, 0, 0, phase,
                     stride};
        std::int64_t step = 1;
        while (step * dilation % stride != 0)
            ++step;
        std::int64_t first = 0;
        while (first < step && first < kernel && (phase + pad - first * dilation) % stride != 0)
            ++first;
        if (first == step || first >= kernel) return axis;
        axis.taps = (kernel - 1 - first) / step + 1;
        axis.first_tap = first + (axis.taps - 1) * step;
        axis.tap_step = -step;
        axis.origin = (phase + pad - axis.first_tap * dilation) / stride;
        axis.move = step * dilation / stride;
        return axis;
    }
};

/// A result's window: where its first tap is, and the first number there, counted from the image's.
struct Cell {
    std::int64_t y = 0, x = 0, at = 0;
};
static_assert(sizeof(Cell) == std::size_t(ImplicitOuterWorkspace::kCellBytes));

/// One number for every tap, or for each of a row of them, and channel.
struct RowGrid {
    TapAxis vertical, horizontal;
    std::int64_t batch = 0, channels = 0;  ///< of the image

    std::int64_t rows() const { return batch * vertical.results * horizontal.results; }
    std::int64_t depth() const { return vertical.taps * horizontal.taps * channels; }
    /// Whether the taps of a row of the filter are one run, which lies in the image as it is.
    bool joins() const { return horizontal.move == 1 && horizontal.taps > 1 && channels < 16; }
    std::int64_t run() const { return joins() ? horizontal.taps * channels : channels; }

    /// A row's place: the sample and the result that it belongs to.
    struct Place {
        std::int64_t n, i, j;
    };
    Place place(std::int64_t row) const {
        return {row / horizontal.results / vertical.results,
                row / horizontal.results % vertical.results, row % horizontal.results};
    }
    void step(Place& place) const {
        if (++place.j < horizontal.results) return;
        place.j = 0;
        if (++place.i < vertical.results) return;
        place.i = 0;
        ++place.n;
    }
    Cell cell(const Place& place) const {
        const std::int64_t y = vertical.origin + place.i * vertical.scale;
        const std::int64_t x = horizontal.origin + place.j * horizontal.scale;
        return {y, x, ((place.n * vertical.size + y) * horizontal.size + x) * channels};
    }
    /// The pixel of the result, among images of that size.
    std::int64_t result(const Place& place, std::int64_t height, std::int64_t width) const {
        const std::int64_t y = vertical.first_result + place.i * vertical.result_step;
        const std::int64_t x = horizontal.first_result + place.j * horizontal.result_step;
        return (place.n * height + y) * width + x;
    }

    static RowGrid forward(const ConvShape& s) {
        return {TapAxis::forward(s.height, s.out_height, s.kernel_height, s.stride_height,
                                 s.pad_top, s.dilation_height),
                TapAxis::forward(s.width, s.out_width, s.kernel_width, s.stride_width, s.pad_left,
                                 s.dilation_width),
                s.batch, s.channels};
    }
    static std::int64_t phases(const ConvShape& s) { return s.stride_height * s.stride_width; }
    static RowGrid backward(const ConvShape& s, std::int64_t phase) {
        return {TapAxis::backward(s.height, s.out_height, s.kernel_height, s.stride_height,
                                  s.pad_top, s.dilation_height, phase / s.stride_width),
                TapAxis::backward(s.width, s.out_width, s.kernel_width, s.stride_width, s.pad_left,
                                  s.dilation_width, phase % s.stride_width),
                s.batch, s.filters};
    }
};

template <class T>
alignas(64) constexpr T kZeros[kMostBlisDepth] = {};

/// A run of all rows: which taps, and which of its numbers.
struct RunPart {
    std::int64_t down, right;  ///< from the window's first place
    std::int64_t from, until;

    RunPart(const RowGrid& grid, std::int64_t run, std::int64_t from_number,
            std::int64_t until_number)
        : down((grid.joins() ? run : run / grid.horizontal.taps) * grid.vertical.move),
          right(grid.joins() ? 0 : run % grid.horizontal.taps * grid.horizontal.move),
          from(from_number),
          until(until_number) {}
};

/// Those numbers of the cell's row: in the image, zeros where that has ended, or copied to `edge`
/// where it ends among them.
template <class T>
DTNN_INLINE const T* part_of(const RowGrid& grid, const T* image, const Cell& cell,
                             const RunPart& part, bool joins, T* edge) {
    const std::int64_t width = grid.horizontal.size, channels = grid.channels;
    const std::int64_t x = cell.x + part.right;
    const bool in_rows = std::uint64_t(cell.y + part.down) < std::uint64_t(grid.vertical.size);
    const std::int64_t at = cell.at + (part.down * width + part.right) * channels + part.from;
    if (!joins) return in_rows && std::uint64_t(x) < std::uint64_t(width) ? image + at : kZeros<T>;
    if (!in_rows) return kZeros<T>;
    if (x >= 0 && x + grid.horizontal.taps <= width) return image + at;
    for (std::int64_t i = part.from; i < part.until; ++i) {
        const std::int64_t place = x + i / channels;
        edge[i - part.from] = place >= 0 && place < width ? image[at + i - part.from] : T(0);
    }
    return edge;
}

/// to[i] = from[i] for i < count.
template <class T>
DTNN_INLINE void copy_few(const T* from, T* to, std::int64_t count) {
    constexpr int kLanes = Simd<T>::kLanes;
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
        Simd<T>::store(to + i, Simd<T>::load(from + i));
    if constexpr (4 * sizeof(T) <= kVectorBytes)
        for (; i + 4 <= count; i += 4)
            Lanes<T, 4>::store(to + i, Lanes<T, 4>::load(from + i));
    for (; i + 2 <= count; i += 2)
        Lanes<T, 2>::store(to + i, Lanes<T, 2>::load(from + i));
    if (i < count) to[i] = from[i];
}

/// The same as `interleave` for the leading multiple of four of the numbers, which is returned.
template <class T>
DTNN_INLINE std::int64_t interleave_fours(const T* const* from, std::int64_t count,
                                          std::int64_t length, T* to) {
    using Four = Lanes<T, 4>;
    using Vector = typename Four::Vector;
    std::int64_t i = 0;
    for (; i + 4 <= length; i += 4) {
        for (std::int64_t j = 0; j < count; j += 4) {
            const Vector a = Four::load(from[j] + i), b = Four::load(from[j + 1] + i);
            const Vector c = Four::load(from[j + 2] + i), d = Four::load(from[j + 3] + i);
            const Vector ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
            const Vector cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
            const Vector ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
            const Vector cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
            const Vector rows[4] = {__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5),
                                    __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
                                    __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5),
                                    __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
            const std::int64_t left = count - j;
            for (int row = 0; row < 4; ++row) {
                T* at = to + (i + row) * count + j;
                if (left >= 4)
                    Four::store(at, rows[row]);
                else if (left == 2)
                    Lanes<T, 2>::store(at, __builtin_shufflevector(rows[row], rows[row], 0, 1));
                else
                    for (int lane = 0; lane < 3; ++lane)
                        if (lane < left) at[lane] = rows[row][lane];
            }
        }
    }
    return i;
}

/// to[i * count + j] = from[j][i] for i < length, j < count; `from` has three more, of which any
/// `length` numbers may be read.
template <class T>
void interleave(const T* const* from, std::int64_t count, std::int64_t length, T* to) {
    std::int64_t i = 0;
    if constexpr (4 * sizeof(T) <= kVectorBytes) i = interleave_fours(from, count, length, to);
    for (; i < length; ++i)
        for (std::int64_t j = 0; j < count; ++j)
            to[i * count + j] = from[j][i];
}

/// visit(run, part) for the runs that the columns `from` to `until` of the rows are made of.
template <class Visit>
DTNN_INLINE void for_run_parts(std::int64_t run, std::int64_t from, std::int64_t until,
                               Visit&& visit) {
    for (std::int64_t at = from; at < until;) {
        const std::int64_t index = at / run, start = index * run;
        const std::int64_t last = start + run < until ? start + run : until;
        visit(index, at - start, last - start);
        at = last;
    }
}

/// Panels of `side` rows each, of the rows `begin` to `end` and of their columns `from` to `until`;
/// the last is filled up with zeros. `edges`: kMostBlisSide * (until - from) numbers.
template <class T>
void pack_rows(const RowGrid& grid, const T* image, std::int64_t begin, std::int64_t end,
               std::int64_t from, std::int64_t until, std::int64_t side, T* edges, T* to) {
    const std::int64_t run = grid.run(), length = until - from;
    const bool joins = grid.joins();
    RowGrid::Place place = grid.place(begin);
    for (std::int64_t first = begin; first < end; first += side) {
        Cell cells[kMostBlisSide];
        const T* sources[kMostBlisSide + 3];
        const std::int64_t rows = end - first < side ? end - first : side;
        for (std::int64_t j = 0; j < rows; ++j, grid.step(place))
            cells[j] = grid.cell(place);
        for (std::int64_t j = rows; j < side + 3; ++j)
            sources[j] = kZeros<T>;
        for_run_parts(run, from, until,
                      [&](std::int64_t index, std::int64_t part_from, std::int64_t part_until) {
                          const RunPart part(grid, index, part_from, part_until);
                          for (std::int64_t j = 0; j < rows; ++j)
                              sources[j] =
                                  part_of(grid, image, cells[j], part, joins, edges + j * length);
                          interleave(sources, side, part_until - part_from, to);
                          to += side * (part_until - part_from);
                      });
    }
}

/// Those numbers of all rows, `kCount` of them (0: part.until - part.from), `side` apart in `to`.
template <int kCount, class T>
DTNN_INLINE void copy_counted(const RowGrid& grid, const T* image, const Cell* cells,
                              std::int64_t rows, const RunPart& part, std::int64_t side, T* edge,
                              T* to) {
    const bool joins = grid.joins();
    for (std::int64_t row = 0; row < rows; ++row, to += side) {
        const T* from = part_of(grid, image, cells[row], part, joins, edge);
        if constexpr (kCount > 0)
            __builtin_memcpy(to, from, kCount * sizeof(T));
        else
            copy_few(from, to, part.until - part.from);
    }
}

/// The same: the widths of the panels of Haswell and Skylake-X at once.
template <class T>
void copy_parts(const RowGrid& grid, const T* image, const Cell* cells, std::int64_t rows,
                const RunPart& part, std::int64_t side, T* edge, T* to) {
    switch (part.until - part.from) {
        case 6:
            return copy_counted<6>(grid, image, cells, rows, part, side, edge, to);
        case 12:
            return copy_counted<12>(grid, image, cells, rows, part, side, edge, to);
        case 14:
            return copy_counted<14>(grid, image, cells, rows, part, side, edge, to);
        default:
            return copy_counted<0>(grid, image, cells, rows, part, side, edge, to);
    }
}

/// The same rows, transposed: panels of `side` columns from `from` to `until`, and in them a number
/// for each of the rows of `cells`. `edge`: `side` numbers.
template <class T>
void pack_columns(const RowGrid& grid, const T* image, const Cell* cells, std::int64_t rows,
                  std::int64_t from, std::int64_t until, std::int64_t side, T* edge, T* to) {
    const std::int64_t run = grid.run();
    for (std::int64_t first = from; first < until; first += side, to += side * rows) {
        const std::int64_t last = first + side < until ? first + side : until;
        for_run_parts(run, first, last,
                      [&](std::int64_t index, std::int64_t part_from, std::int64_t part_until) {
                          const RunPart part(grid, index, part_from, part_until);
                          T* panel = to + index * run + part_from - first;
                          copy_parts(grid, image, cells, rows, part, side, edge, panel);
                      });
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t j = last - first; j < side; ++j)
                to[row * side + j] = T(0);
    }
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
