/// conv2d, conv2d_backward_data, conv2d_transpose and conv2d_backward_weights as matrix products of
/// BLIS with the rows of the image (kernels/workspace/im2row.hpp): dst = rows * weights, gradient
/// of rows = diff_dst * weights^T, diff_weights = rows^T * diff_dst.
///
/// Blocks of rows and slabs of columns depend on the shape alone and each product is one thread's,
/// so results do not depend on the number of threads, statistics apart. Error bound: depth *
/// epsilon * sum of |products|.

#include <cstddef>
#include <cstdint>

#include "kernels/arguments/conv2d_transpose.hpp"
#include "kernels/cpu/blis_product.hpp"
#include "kernels/cpu/conv/conv_statistics.hpp"
#include "kernels/cpu/product_ends.hpp"
#include "kernels/cpu/simd.hpp"
#include "kernels/thread_team.hpp"
#include "kernels/workspace/im2row.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Calls visit(row, tap, cell) for the taps `first_tap` to `last_tap` of output pixels `begin` to
/// `end`, counted over images; `cell` is the first channel of the tap's source cell, -1 outside.
template <class Visit>
DTNN_INLINE void for_row_cells(const ConvShape& s, std::int64_t begin, std::int64_t end,
                               std::int64_t first_tap, std::int64_t last_tap, Visit&& visit) {
    for (std::int64_t pixel = begin; pixel < end; ++pixel) {
        const std::int64_t ow = pixel % s.out_width;
        const std::int64_t oh = pixel / s.out_width % s.out_height;
        const std::int64_t n = pixel / s.out_width / s.out_height;
        for (std::int64_t tap = first_tap; tap < last_tap; ++tap) {
            const std::int64_t ih =
                oh * s.stride_height - s.pad_top + tap / s.kernel_width * s.dilation_height;
            const std::int64_t iw =
                ow * s.stride_width - s.pad_left + tap % s.kernel_width * s.dilation_width;
            const bool inside = ih >= 0 && ih < s.height && iw >= 0 && iw < s.width;
            visit(pixel - begin, tap,
                  inside ? ((n * s.height + ih) * s.width + iw) * s.channels : std::int64_t{-1});
        }
    }
}

/// The columns `first` to `last` of the rows of these pixels, as a dense matrix.
template <class T>
void make_rows(const ConvShape& s, const T* src, std::int64_t begin, std::int64_t end,
               std::int64_t first, std::int64_t last, T* rows) {
    const std::int64_t channels = s.channels;
    const std::int64_t length = last - first;
    for_row_cells(s, begin, end, first / channels, (last + channels - 1) / channels,
                  [&](std::int64_t row, std::int64_t tap, std::int64_t cell) {
                      const std::int64_t at = tap * channels;
                      const std::int64_t from = at < first ? first - at : 0;
                      const std::int64_t until = at + channels > last ? last - at : channels;
                      T* to = rows + row * length + at - first;
                      if (cell < 0) {
                          for (std::int64_t c = from; c < until; ++c)
                              to[c] = T(0);
                          return;
                      }
                      const T* source = src + cell;
#pragma GCC ivdep
                      for (std::int64_t c = from; c < until; ++c)
                          to[c] = source[c];
                  });
}

template <class T>
void rows_backward_data(const Conv2dBackwardDataArguments<T>& a, ThreadTeam& team) {
    const ConvShape& s = a.shape;
    const Row2ImWorkspace layout(s, std::int64_t{sizeof(T)}, team.size());
    const std::int64_t length = row_length(s);
    const std::int64_t out = s.out_height * s.out_width;
    const std::int64_t cells = s.height * s.width * s.channels;
    const bool own = is_own_rows(s);
    team.for_ranges(s.batch, 1, [&](std::int64_t first, std::int64_t last, int member) {
        std::byte* scratch = a.workspace.data() + member * layout.bytes_per_thread;
        T* image = reinterpret_cast<T*>(scratch);
        T* rows = reinterpret_cast<T*>(scratch + layout.rows);
        for (std::int64_t n = first; n < last; ++n) {
            if (!own)
                for (std::int64_t i = 0; i < cells; ++i)
                    image[i] = T(0);
            for (std::int64_t begin = 0; begin < out; begin += layout.block) {
                const std::int64_t end = begin + layout.block < out ? begin + layout.block : out;
                multiply<T>({end - begin,
                             length,
                             s.filters,
                             {a.diff_dst + (n * out + begin) * s.filters, s.filters, 1},
                             {a.weights, 1, s.filters},
                             own ? image + begin * length : rows,
                             length},
                            true);
                if (own) continue;
                for_row_cells(s, n * out + begin, n * out + end, 0, s.taps(),
                              [&](std::int64_t row, std::int64_t tap, std::int64_t cell) {
                                  if (cell < 0) return;
                                  const T* from = rows + row * length + tap * s.channels;
                                  T* to = image + cell - n * cells;
#pragma GCC ivdep
                                  for (std::int64_t c = 0; c < s.channels; ++c)
                                      to[c] += from[c];
                              });
            }
            // diff_src may lie on the mask, so it is written when all of the image is known.
            const std::int64_t pixels = s.height * s.width;
            for (std::int64_t pixel = 0; pixel < pixels; ++pixel)
                finish_gradient(a, image + pixel * s.channels, n * pixels + pixel, 0, s.channels);
        }
    });
}

}  // namespace

template <class T>
void conv2d_im2row_blis(const Conv2dArguments<T>& a, ThreadTeam& team) {
    const ConvShape& s = a.shape;
    const bool with_statistics = a.statistics != nullptr;
    const Im2RowWorkspace layout(s, std::int64_t{sizeof(T)}, team.size(), with_statistics);
    const std::int64_t length = row_length(s), pixels = s.out_pixels();
    const std::int64_t blocks = (pixels + layout.block - 1) / layout.block;
    const auto scratch_of = [&](int member) {
        return a.workspace.data() + member * layout.bytes_per_thread;
    };
    const auto sums_of = [&](int member) {
        return reinterpret_cast<double*>(scratch_of(member) + layout.statistics);
    };
    for (int member = 0; with_statistics && member < team.size(); ++member)
        for (std::int64_t j = 0; j < 2 * s.filters; ++j)
            sums_of(member)[j] = 0;
    team.for_ranges(blocks, 1, [&](std::int64_t first, std::int64_t last, int member) {
        T* rows = reinterpret_cast<T*>(scratch_of(member));
        T* product = reinterpret_cast<T*>(scratch_of(member) + layout.product);
        for (std::int64_t block = first; block < last; ++block) {
            const std::int64_t begin = block * layout.block;
            const std::int64_t end = begin + layout.block < pixels ? begin + layout.block : pixels;
            const T* source = a.src + begin * length;
            if (!is_own_rows(s)) {
                make_rows(s, a.src, begin, end, 0, length, rows);
                source = rows;
            }
            multiply<T>({end - begin,
                         s.filters,
                         length,
                         {source, length, 1},
                         {a.weights, s.filters, 1},
                         product,
                         s.filters},
                        false);
            finish(a, product, begin, end, 0, s.filters,
                   with_statistics ? sums_of(member) : nullptr);
        }
    });
    if (with_statistics) total_statistics(a.statistics, s.filters, a.bias, team.size(), sums_of);
}

template <class T>
void conv2d_backward_data_im2row_blis(const Conv2dBackwardDataArguments<T>& a, ThreadTeam& team) {
    rows_backward_data(a, team);
}

template <class T>
void conv2d_transpose_im2row_blis(const Conv2dTransposeArguments<T>& a, ThreadTeam& team) {
    rows_backward_data<T>(a, team);
}

template <class T>
void conv2d_backward_weights_im2row_blis(const Conv2dBackwardWeightsArguments<T>& a,
                                         ThreadTeam& team) {
    const ConvShape& s = a.shape;
    constexpr std::int64_t kSlab = Im2RowOuterWorkspace::kSlab;
    const Im2RowOuterWorkspace layout(s, std::int64_t{sizeof(T)}, team.size());
    const std::int64_t length = row_length(s), pixels = s.out_pixels();
    const std::int64_t slabs = (length + kSlab - 1) / kSlab;
    const bool own = is_own_rows(s);
    team.for_ranges(slabs, 1, [&](std::int64_t first, std::int64_t last, int member) {
        T* rows = reinterpret_cast<T*>(a.workspace.data() + member * layout.bytes_per_thread);
        for (std::int64_t slab = first; slab < last; ++slab) {
            const std::int64_t from = slab * kSlab;
            const std::int64_t until = from + kSlab < length ? from + kSlab : length;
            for (std::int64_t begin = 0; begin < pixels; begin += layout.block) {
                const std::int64_t end =
                    begin + layout.block < pixels ? begin + layout.block : pixels;
                if (!own) make_rows(s, a.src, begin, end, from, until, rows);
                const T* source = own ? a.src + begin * length + from : rows;
                multiply<T>({until - from,
                             s.filters,
                             end - begin,
                             {source, 1, own ? length : until - from},
                             {a.diff_dst + begin * s.filters, s.filters, 1},
                             a.diff_weights + from * s.filters,
                             s.filters,
                             begin > 0},
                            true);
            }
        }
    });
    if (a.diff_bias) sum_rows<T>(a.diff_dst, pixels, s.filters, a.diff_bias, team);
}

DTNN_KERNEL(conv2d_im2row_blis, Conv2dArguments)
DTNN_KERNEL(conv2d_backward_data_im2row_blis, Conv2dBackwardDataArguments)
DTNN_KERNEL(conv2d_transpose_im2row_blis, Conv2dTransposeArguments)
DTNN_KERNEL(conv2d_backward_weights_im2row_blis, Conv2dBackwardWeightsArguments)

}  // namespace dtnn::kernels::DTNN_ISA
