#pragma once
/// The view that gather_conv.hpp works on: a convolution as rows that every output cell gathers,
/// how output cells become tiles, and which taps of a tile are inside the image.

#include <cstddef>
#include <cstdint>

#include "kernels/arguments/elementwise.hpp"
#include "kernels/cpu/gemm_tile.hpp"
#include "kernels/workspace/conv.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

struct GatherAxis {
    std::int64_t source = 0, output = 0, taps = 0;  ///< sizes
    std::int64_t multiply = 1, offset = 0, dilation = 1, divide = 1;

    /// The source cell of a tap, or -1 when there is none.
    std::int64_t cell(std::int64_t start, std::int64_t tap) const {
        std::int64_t at = start + tap * dilation;
        if (at < 0) return -1;
        if (divide != 1) {
            if (at % divide != 0) return -1;
            at /= divide;
        }
        return at < source ? at : -1;
    }
    std::int64_t start(std::int64_t output_cell) const { return output_cell * multiply + offset; }
};

template <class T>
struct GatherConv {
    GatherAxis y, x;
    std::int64_t batch = 0, groups = 1;
    std::int64_t depth = 0, width = 0;  ///< of a group
    const T* src = nullptr;
    T* dst = nullptr;
    const T* bias = nullptr;      ///< [groups*width] or null
    const T* residual = nullptr;  ///< like dst, or null
    const T* mask = nullptr;  ///< like dst, or null: the result is zero where this is not positive
    bool relu = false;
    const ElementwiseArguments<T>* epilogue = nullptr;  ///< over dst, in the end; null: none
    double* statistics = nullptr;                       ///< [3, groups*width] or null
    /// Weights [taps, depth, groups*width], or transposed and the taps reversed: [taps, width,
    /// groups*depth].
    const T* weights = nullptr;
    bool transposed = false;
    const T* packed = nullptr;  ///< the panels, where they were packed ahead
    T* panels = nullptr;
    T* zeros = nullptr;
    std::byte* taps = nullptr;
    std::int64_t taps_per_thread = 0;
    bool results_to_memory = false;  ///< they are larger than any cache
    double* partial_statistics = nullptr;
    std::int64_t partial_stride = 0;  ///< elements between the sums of parts of the tiles

    std::int64_t source_pixel() const { return groups * depth; }
    std::int64_t output_pixel() const { return groups * width; }
    std::int64_t cells() const { return batch * y.output * x.output; }
    std::int64_t tap_count() const { return y.taps * x.taps; }

    /// Whether each output cell gathers the source cell in its own place and nothing else.
    bool is_pointwise() const {
        return tap_count() == 1 && groups == 1 && x.multiply == 1 && x.divide == 1 &&
               y.multiply == 1 && y.divide == 1 && y.offset == 0 && x.offset == 0 &&
               x.source == x.output && y.source == y.output;
    }
};

/// A run of taps whose rows and panel rows follow each other in memory.
template <class T>
struct TapRun {
    const T* rows[kMostTileRows];
    std::int64_t first = 0;   ///< panel row
    std::int64_t length = 0;  ///< panel rows
};

/// The output cells of a tile: their places in dst (in pixels) and where they start in the source.
struct TileCells {
    enum Place {
        scattered,
        in_line,    ///< side by side in a line of the image
        pointwise,  ///< side by side, of GatherConv::is_pointwise(); where they start is not said
    };
    Place place = scattered;
    std::int64_t count = 0;
    std::int64_t pixel[kMostTileRows], image[kMostTileRows];
    std::int64_t start_y[kMostTileRows], start_x[kMostTileRows];
};

/// How tiles are numbered. Cells are divided into phases by (y % step_y, x % step_x); a tile holds
/// cells of one phase.
template <class T>
struct Tiling {
    std::int64_t rows = 1, step_y = 1, step_x = 1, tiles_per_phase = 0;
    bool is_pointwise = false;

    /// `may_skip` taps that are outside for cells of several images.
    Tiling(const GatherConv<T>& c, std::int64_t tile_rows, bool may_skip = true)
        : rows(tile_rows), is_pointwise(c.is_pointwise()) {
        step_y = c.y.divide;
        step_x = c.x.divide;
        if (may_skip && c.y.divide == 1 && c.x.divide == 1 && saves_taps(c)) {
            step_y = c.y.output;
            step_x = c.x.output;
        }
        const std::int64_t height = (c.y.output + step_y - 1) / step_y;
        const std::int64_t width = (c.x.output + step_x - 1) / step_x;
        tiles_per_phase = (c.batch * height * width + rows - 1) / rows;
    }

    std::int64_t tiles() const { return tiles_per_phase * step_y * step_x; }

    /// Whether tiles of one cell of several images do clearly less work than tiles of neighbouring
    /// cells.
    bool saves_taps(const GatherConv<T>& c) const {
        if (c.batch < rows || c.depth < 8 || c.y.output * c.x.output > 64) return false;
        const std::int64_t valid = inside(c.y) * inside(c.x);
        const std::int64_t scanned = (c.batch * c.y.output * c.x.output + rows - 1) / rows;
        return (c.batch + rows - 1) / rows * valid * 100 < scanned * c.tap_count() * 95;
    }

    static std::int64_t inside(const GatherAxis& axis) {
        std::int64_t count = 0;
        for (std::int64_t cell = 0; cell < axis.output; ++cell) {
            for (std::int64_t tap = 0; tap < axis.taps; ++tap) {
                count += axis.cell(axis.start(cell), tap) >= 0;
            }
        }
        return count;
    }

    void cells(const GatherConv<T>& c, std::int64_t tile, TileCells& cells) const {
        if (step_y == 1 && step_x == 1 && side_by_side(c, tile * rows, cells)) return;
        cells.place = TileCells::scattered;
        const std::int64_t phases = step_y * step_x;
        const std::int64_t phase = tile % phases;
        const std::int64_t phase_y = phase / step_x;
        const std::int64_t phase_x = phase % step_x;
        cells.count = 0;
        if (phase_y >= c.y.output || phase_x >= c.x.output) return;
        const std::int64_t height = (c.y.output - phase_y + step_y - 1) / step_y;
        const std::int64_t width = (c.x.output - phase_x + step_x - 1) / step_x;
        const std::int64_t first = tile / phases * rows;
        const std::int64_t left = c.batch * height * width - first;
        if (left <= 0) return;
        cells.count = left < rows ? left : rows;
        std::int64_t n = first / (height * width);
        std::int64_t row = first / width % height;
        std::int64_t column = first % width;
        for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t at_y = phase_y + row * step_y;
            const std::int64_t at_x = phase_x + column * step_x;
            cells.image[r] = n;
            cells.pixel[r] = (n * c.y.output + at_y) * c.x.output + at_x;
            cells.start_y[r] = c.y.start(at_y);
            cells.start_x[r] = c.x.start(at_x);
            // Rows past the end repeat the last cell: they are computed and not stored.
            if (r + 1 >= cells.count) continue;
            if (++column == width) {
                column = 0;
                if (++row == height) {
                    row = 0;
                    ++n;
                }
            }
        }
    }

  private:
    /// The usual tiles, without looking at each cell: false where they are not so.
    bool side_by_side(const GatherConv<T>& c, std::int64_t first, TileCells& cells) const {
        if (first + rows > c.cells()) return false;
        if (is_pointwise) {
            cells.place = TileCells::pointwise;
        } else {
            const std::int64_t line = first / c.x.output, column = first - line * c.x.output;
            if (column + rows > c.x.output) return false;
            cells.place = TileCells::in_line;
            const std::int64_t image = line / c.y.output;
            const std::int64_t start_y = c.y.start(line - image * c.y.output);
            const std::int64_t start_x = c.x.start(column);
            for (std::int64_t r = 0; r < rows; ++r) {
                cells.image[r] = image;
                cells.start_y[r] = start_y;
                cells.start_x[r] = start_x + r * c.x.multiply;
            }
        }
        cells.count = rows;
        for (std::int64_t r = 0; r < rows; ++r)
            cells.pixel[r] = first + r;
        return true;
    }
};

/// The taps of cells side by side, where every tap of a kernel row is inside; -1 where not.
template <class T>
std::int64_t list_inner_taps(const GatherConv<T>& c, const TileCells& cells, std::int64_t rows,
                             TapRun<T>* runs) {
    if (cells.place == TileCells::pointwise) {
        for (std::int64_t r = 0; r < rows; ++r)
            runs[0].rows[r] = c.src + (cells.pixel[0] + r) * c.depth;
        runs[0].first = 0;
        runs[0].length = c.depth;
        return 1;
    }
    const std::int64_t start = cells.start_x[0];
    if (cells.place != TileCells::in_line || c.groups != 1 || c.x.dilation != 1 || start < 0 ||
        start + (rows - 1) * c.x.multiply + c.x.taps > c.x.source)
        return -1;
    std::int64_t count = 0;
    const std::int64_t length = c.x.taps * c.depth, between = c.x.multiply * c.depth;
    for (std::int64_t ky = 0; ky < c.y.taps; ++ky) {
        const std::int64_t at = c.y.cell(cells.start_y[0], ky);
        if (at < 0) continue;
        const T* const line =
            c.src + ((cells.image[0] * c.y.source + at) * c.x.source + start) * c.depth;
        TapRun<T>& run = runs[count++];
        for (std::int64_t r = 0; r < rows; ++r)
            run.rows[r] = line + r * between;
        run.first = ky * length;
        run.length = length;
    }
    return count;
}

/// Lists the taps of a tile that are inside for any of its cells; returns how many runs there are.
template <class T>
std::int64_t list_taps(const GatherConv<T>& c, const TileCells& cells, std::int64_t rows,
                       std::int64_t group, TapRun<T>* runs) {
    if (cells.place != TileCells::scattered) {
        const std::int64_t count = list_inner_taps(c, cells, rows, runs);
        if (count >= 0) return count;
    }
    const bool joinable = c.groups == 1 && c.x.dilation == 1 && c.x.divide == 1;
    const std::int64_t pixel = c.source_pixel();
    bool within = joinable;
    for (std::int64_t r = 0; within && r < rows; ++r)
        within = cells.start_x[r] >= 0 && cells.start_x[r] + c.x.taps <= c.x.source;
    std::int64_t count = 0;
    for (std::int64_t ky = 0; ky < c.y.taps; ++ky) {
        const T* lines[kMostTileRows];
        std::int64_t inside_lines = 0;
        for (std::int64_t r = 0; r < rows; ++r) {
            const std::int64_t at = c.y.cell(cells.start_y[r], ky);
            lines[r] = nullptr;
            if (at < 0) continue;
            ++inside_lines;
            lines[r] =
                c.src + (cells.image[r] * c.y.source + at) * c.x.source * pixel + group * c.depth;
        }
        if (inside_lines == 0) continue;
        if (within && inside_lines == rows) {
            // All taps of the kernel row, one behind the other.
            TapRun<T>& run = runs[count++];
            for (std::int64_t r = 0; r < rows; ++r)
                run.rows[r] = lines[r] + cells.start_x[r] * pixel;
            run.first = ky * c.x.taps * c.depth;
            run.length = c.x.taps * c.depth;
            continue;
        }
        for (std::int64_t kx = 0; kx < c.x.taps; ++kx) {
            TapRun<T>& run = runs[count];
            bool any = false;
            const std::int64_t first = (ky * c.x.taps + kx) * c.depth;
            bool joins =
                joinable && count > 0 && runs[count - 1].first + runs[count - 1].length == first;
            for (std::int64_t r = 0; r < rows; ++r) {
                const std::int64_t at = c.x.cell(cells.start_x[r], kx);
                const bool inside = lines[r] != nullptr && at >= 0;
                any |= inside;
                run.rows[r] = inside ? lines[r] + at * pixel : c.zeros;
                joins = joins && inside &&
                        run.rows[r] == runs[count - 1].rows[r] + runs[count - 1].length;
            }
            if (!any) continue;
            if (joins) {
                runs[count - 1].length += c.depth;
                continue;
            }
            run.first = first;
            run.length = c.depth;
            ++count;
        }
    }
    return count;
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
