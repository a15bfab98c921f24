/// conv2d, conv2d_backward_data, conv2d_transpose and conv2d_backward_weights as matrix products
/// whose left side exists only in panels of BLIS's micro-kernels: these are packed straight from
/// the image, zeros of the padding included (convGemm: Barrachina, Dolz, San Juan, Quintana-Orti,
/// "Efficient and portable GEMM-based convolution operators for deep neural network training on
/// multicore processors", 2022). Gradients of data are convolutions of diff_dst, a phase at a time
/// (kernels/cpu/conv/gathered_rows.hpp), so nothing is added to an image.
///
/// Every result is one sum over slices of what is summed up, as deep as the micro-kernel likes it,
/// whoever computes it; only statistics, and gradients of few weights, are summed across threads.
/// Error bound: depth * epsilon * sum of |products|.

#include <cstddef>
#include <cstdint>

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/blis_product.hpp"
#include "kernels/cpu/conv/conv_statistics.hpp"
#include "kernels/cpu/conv/gathered_rows.hpp"
#include "kernels/cpu/product_ends.hpp"
#include "kernels/thread_team.hpp"
#include "kernels/workspace/implicit.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// The equal parts of a sum over `depth` numbers, of which a micro-kernel sums up one at a time.
struct Slices {
    std::int64_t depth, count, length;

    Slices(std::int64_t all, std::int64_t most) : depth(all) {
        if (most > kMostBlisDepth) most = kMostBlisDepth;
        count = (depth + most - 1) / most;
        length = count > 0 ? (depth + count - 1) / count : 0;
    }
    std::int64_t from(std::int64_t slice) const { return slice * length; }
    std::int64_t until(std::int64_t slice) const {
        return (slice + 1) * length < depth ? (slice + 1) * length : depth;
    }
};

/// A convolution of either direction: forward it has one phase.
template <class T>
struct Gathered {
    const ConvShape& shape;
    bool backward;
    const T* image;
    const T* weights;

    std::int64_t phases() const { return backward ? RowGrid::phases(shape) : 1; }
    std::int64_t width() const { return backward ? shape.channels : shape.filters; }
    RowGrid grid(std::int64_t phase) const {
        return backward ? RowGrid::backward(shape, phase) : RowGrid::forward(shape);
    }
};

/// The weights of a phase, [depth, width], for `side` columns from `first` on: panels of every
/// slice, which lie `stride` numbers a row apart.
template <class T>
void pack_weights(const Gathered<T>& conv, const RowGrid& grid, const Slices& slices,
                  std::int64_t first, std::int64_t side, std::int64_t stride, T* to) {
    const ConvShape& s = conv.shape;
    const std::int64_t columns = conv.width() - first < side ? conv.width() - first : side;
    const T* sources[kMostBlisSide + 3];
    for (std::int64_t j = columns; j < side + 3; ++j)
        sources[j] = kZeros<T>;
    for (std::int64_t slice = 0; slice < slices.count; ++slice) {
        const std::int64_t from = slices.from(slice), until = slices.until(slice);
        T* panel = to + from * stride + first * (until - from);
        for_run_parts(grid.channels, from, until,
                      [&](std::int64_t tap, std::int64_t part_from, std::int64_t part_until) {
                          const TapAxis& v = grid.vertical;
                          const TapAxis& h = grid.horizontal;
                          const std::int64_t place =
                              (v.first_tap + tap / h.taps * v.tap_step) * s.kernel_width +
                              h.first_tap + tap % h.taps * h.tap_step;
                          const T* weights = conv.weights + place * s.channels * s.filters;
                          if (conv.backward) {
                              for (std::int64_t j = 0; j < columns; ++j)
                                  sources[j] = weights + (first + j) * s.filters + part_from;
                              interleave(sources, side, part_until - part_from, panel);
                              panel += side * (part_until - part_from);
                              return;
                          }
                          for (std::int64_t c = part_from; c < part_until; ++c, panel += side) {
                              copy_few(weights + c * s.filters + first, panel, columns);
                              for (std::int64_t j = columns; j < side; ++j)
                                  panel[j] = T(0);
                          }
                      });
    }
}

/// finish(grid, begin, end, first, columns, product, member) for the products of all results, by
/// blocks of these and, where there are fewer blocks than threads, of columns. `summed`: what it
/// adds to is the member's.
template <class T, class Finish>
void multiply_gathered(const Gathered<T>& conv, std::byte* workspace,
                       const ImplicitWorkspace& layout, bool summed, ThreadTeam& team,
                       Finish&& finish) {
    constexpr std::int64_t kBlock = ImplicitWorkspace::kBlock;
    const MicroKernel<T> kernel = micro_kernel<T>();
    const std::int64_t width = conv.width(), side = kernel.wide;
    const std::int64_t panels = (width + side - 1) / side, stride = panels * side;
    T* const weights = reinterpret_cast<T*>(workspace);
    const auto blocks_of = [](const RowGrid& grid) { return (grid.rows() + kBlock - 1) / kBlock; };
    std::int64_t blocks = 0;
    for (std::int64_t phase = 0, depth = 0; phase < conv.phases(); ++phase) {
        const RowGrid grid = conv.grid(phase);
        const Slices slices(grid.depth(), kernel.depth);
        if (slices.count > 0)
            team.for_pieces(panels, 1, [&](std::int64_t first, std::int64_t last, int) {
                for (std::int64_t panel = first; panel < last; ++panel)
                    pack_weights(conv, grid, slices, panel * side, side, stride,
                                 weights + depth * stride);
            });
        depth += grid.depth();
        blocks += blocks_of(grid);
    }
    if (blocks == 0) return;  // no results
    const std::int64_t wanted = (team.size() + blocks - 1) / blocks;
    const std::int64_t parts = wanted < panels ? wanted : panels;
    team.divide(blocks * parts, 1, summed, [&](std::int64_t from, std::int64_t to, int member) {
        std::byte* scratch = workspace + layout.threads_at + member * layout.bytes_per_thread;
        T* rows = reinterpret_cast<T*>(scratch);
        T* product = reinterpret_cast<T*>(scratch + layout.product);
        T* edges = reinterpret_cast<T*>(scratch + layout.edges);
        std::int64_t phase = 0, phase_begin = 0, depth = 0;
        RowGrid grid = conv.grid(0);
        for (std::int64_t piece = from; piece < to; ++piece) {
            const std::int64_t block = piece / parts, part = piece % parts;
            while (block >= phase_begin + blocks_of(grid)) {
                phase_begin += blocks_of(grid);
                depth += grid.depth();
                grid = conv.grid(++phase);
            }
            const std::int64_t begin = (block - phase_begin) * kBlock;
            const std::int64_t end = begin + kBlock < grid.rows() ? begin + kBlock : grid.rows();
            const std::int64_t first = panels * part / parts * side;
            const std::int64_t last = panels * (part + 1) / parts * side;
            const std::int64_t columns = (last < width ? last : width) - first;
            const std::int64_t step = kernel.rows_at_once(columns, kBlock);
            const Slices slices(grid.depth(), kernel.depth);
            for (std::int64_t slice = 0; slice < slices.count; ++slice) {
                const std::int64_t low = slices.from(slice), high = slices.until(slice);
                const T* panels_of_slice = weights + (depth + low) * stride + first * (high - low);
                for (std::int64_t row = begin; row < end; row += step) {
                    const std::int64_t row_end = row + step < end ? row + step : end;
                    pack_rows(grid, conv.image, row, row_end, low, high, kernel.narrow, edges,
                              rows);
                    kernel.multiply(row_end - row, columns, high - low, rows, panels_of_slice,
                                    slice > 0, product + (row - begin) * columns, columns);
                }
            }
            // Results between the taps of a stride, say.
            for (std::int64_t i = 0; slices.count == 0 && i < (end - begin) * columns; ++i)
                product[i] = T(0);
            finish(grid, begin, end, first, columns, product, member);
        }
    });
}

template <class T>
void gathered_backward_data(const Conv2dBackwardDataArguments<T>& a, ThreadTeam& team) {
    const ConvShape& s = a.shape;
    const auto layout = ImplicitWorkspace::backward_data(s, std::int64_t{sizeof(T)}, team.size());
    multiply_gathered(
        Gathered<T>{s, true, a.diff_dst, a.weights}, a.workspace.data(), layout, false, team,
        [&](const RowGrid& grid, std::int64_t begin, std::int64_t end, std::int64_t first,
            std::int64_t columns, const T* product, int) {
            RowGrid::Place place = grid.place(begin);
            for (std::int64_t row = begin; row < end; ++row, grid.step(place))
                finish_gradient(a, product + (row - begin) * columns,
                                grid.result(place, s.height, s.width), first, columns);
        });
}

}  // namespace

DTNN_KERNEL(conv2d_implicit_blis, Conv2dArguments) {
    const ConvShape& s = a.shape;
    const bool summed = a.statistics != nullptr;
    const auto layout = ImplicitWorkspace::forward(s, std::int64_t{sizeof(T)}, team.size(), summed);
    const auto sums_of = [&](int member) {
        return reinterpret_cast<double*>(a.workspace.data() + layout.threads_at +
                                         member * layout.bytes_per_thread + layout.statistics);
    };
    for (int member = 0; summed && member < team.size(); ++member)
        for (std::int64_t j = 0; j < 2 * s.filters; ++j)
            sums_of(member)[j] = 0;
    multiply_gathered(
        Gathered<T>{s, false, a.src, a.weights}, a.workspace.data(), layout, summed, team,
        [&](const RowGrid&, std::int64_t begin, std::int64_t end, std::int64_t first,
            std::int64_t columns, const T* product, int member) {
            finish(a, product, begin, end, first, columns, summed ? sums_of(member) : nullptr);
        });
    if (summed) total_statistics(a.statistics, s.filters, a.bias, team.size(), sums_of);
}

DTNN_KERNEL(conv2d_backward_data_implicit_blis, Conv2dBackwardDataArguments) {
    gathered_backward_data(a, team);
}

DTNN_KERNEL(conv2d_transpose_implicit_blis, Conv2dTransposeArguments) {
    gathered_backward_data<T>(a, team);
}

DTNN_KERNEL(conv2d_backward_weights_implicit_blis, Conv2dBackwardWeightsArguments) {
    using Layout = ImplicitOuterWorkspace;
    const ConvShape& s = a.shape;
    const Layout layout(s, std::int64_t{sizeof(T)}, team.size());
    const MicroKernel<T> kernel = micro_kernel<T>();
    const RowGrid grid = RowGrid::forward(s);
    const Slices slices(grid.rows(), kernel.depth);
    const std::int64_t depth = grid.depth(), pieces = layout.slabs * layout.chunks;
    const std::int64_t side = kernel.wide;
    const auto partial = [&](std::int64_t part) {
        return part == 0
                   ? static_cast<T*>(a.diff_weights)
                   : reinterpret_cast<T*>(a.workspace.data() + (part - 1) * layout.partial_bytes);
    };
    team.for_each(pieces * layout.parts, [&](std::int64_t index, int thread) {
        std::byte* scratch =
            a.workspace.data() + layout.threads_at + thread * layout.bytes_per_thread;
        T* rows = reinterpret_cast<T*>(scratch);
        T* filters = reinterpret_cast<T*>(scratch + layout.filters);
        Cell* cells = reinterpret_cast<Cell*>(scratch + layout.cells);
        T* edge = reinterpret_cast<T*>(scratch + layout.edges);
        const std::int64_t part = index / pieces, piece = index % pieces;
        const std::int64_t from = piece / layout.chunks * layout.slab;
        const std::int64_t until = from + layout.slab < depth ? from + layout.slab : depth;
        const std::int64_t first = piece % layout.chunks * layout.chunk;
        const std::int64_t last =
            first + layout.chunk < s.filters ? first + layout.chunk : s.filters;
        const std::int64_t step = kernel.rows_at_once(last - first, Layout::kBlock);
        const std::int64_t begin = slices.count * part / layout.parts;
        const std::int64_t end = slices.count * (part + 1) / layout.parts;
        for (std::int64_t slice = begin; slice < end; ++slice) {
            const std::int64_t low = slices.from(slice), pixels = slices.until(slice) - low;
            RowGrid::Place place = grid.place(low);
            for (std::int64_t i = 0; i < pixels; ++i, grid.step(place))
                cells[i] = grid.cell(place);
            for (std::int64_t f = first; f < last; f += side) {
                const std::int64_t columns = last - f < side ? last - f : side;
                T* panel = filters + (f - first) * pixels;
                for (std::int64_t i = 0; i < pixels; ++i, panel += side) {
                    copy_few(a.diff_dst + (low + i) * s.filters + f, panel, columns);
                    for (std::int64_t j = columns; j < side; ++j)
                        panel[j] = T(0);
                }
            }
            for (std::int64_t row = from; row < until; row += step) {
                const std::int64_t row_end = row + step < until ? row + step : until;
                pack_columns(grid, a.src, cells, pixels, row, row_end, kernel.narrow, edge, rows);
                kernel.multiply(row_end - row, last - first, pixels, rows, filters, slice > begin,
                                partial(part) + row * s.filters + first, s.filters);
            }
        }
    });
    constexpr std::int64_t kGrain = 4096;
    if (layout.parts > 1)
        team.for_pieces(s.weight_elements(), kGrain,
                        [&](std::int64_t begin, std::int64_t end, int) {
                            T* to = partial(0);
                            for (std::int64_t part = 1; part < layout.parts; ++part) {
                                const T* more = partial(part);
#pragma GCC ivdep
                                for (std::int64_t i = begin; i < end; ++i)
                                    to[i] += more[i];
                            }
                        });
    if (a.diff_bias) sum_rows<T>(a.diff_dst, s.out_pixels(), s.filters, a.diff_bias, team);
}

}  // namespace dtnn::kernels::DTNN_ISA
