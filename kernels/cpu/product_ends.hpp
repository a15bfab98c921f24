#pragma once
/// The ends of convolutions and dense layers whose products BLIS makes.

#include <cstdint>

#include "kernels/arguments/conv2d.hpp"
#include "kernels/cpu/expression_chunk.hpp"
#include "kernels/cpu/simd.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Bias, residual and epilogue over the products of output pixels `begin` to `end` and of
/// `columns` filters from `first` on, into dst, with the sums for the statistics, [2, filters].
template <class T>
void finish(const Conv2dArguments<T>& a, const T* product, std::int64_t begin, std::int64_t end,
            std::int64_t first, std::int64_t columns, double* sums) {
    const std::int64_t filters = a.shape.filters;
    const T* bias = a.bias ? a.bias + first : nullptr;
    const bool relu = a.relu;
    for (std::int64_t pixel = begin; pixel < end; ++pixel) {
        const T* from = product + (pixel - begin) * columns;
        const T* residual = a.residual ? a.residual + pixel * filters + first : nullptr;
        T* to = a.dst + pixel * filters + first;
#pragma GCC ivdep
        for (std::int64_t f = 0; f < columns; ++f) {
            T value = from[f];
            if (bias) value += bias[f];
            if (residual) value += residual[f];
            to[f] = relu && value < T(0) ? T(0) : value;
        }
        if (!sums) continue;
        double* const of_filters = sums + first;
        for (std::int64_t f = 0; f < columns; ++f) {
            const double distance = double(to[f]) - (bias ? double(bias[f]) : 0.0);
            of_filters[f] += distance;
            of_filters[filters + f] += distance * distance;
        }
    }
    if (!a.written) return;
    rewrite_rows(a.epilogue, end - begin, columns,
                 [&](std::int64_t r) { return a.dst + (begin + r) * filters + first; });
}

/// Bias, relu and mask over `columns` gradients of a pixel from channel `first` on, into diff_src.
template <class T>
DTNN_INLINE void finish_gradient(const Conv2dBackwardDataArguments<T>& a, const T* from,
                                 std::int64_t pixel, std::int64_t first, std::int64_t columns) {
    const std::int64_t at = pixel * a.shape.channels + first;
    T* to = a.diff_src + at;
    const T* mask = a.mask ? a.mask + at : nullptr;
    const T* bias = a.bias ? a.bias + first : nullptr;
    const bool relu = a.relu;
#pragma GCC ivdep
    for (std::int64_t c = 0; c < columns; ++c) {
        T value = from[c];
        if (bias) value += bias[c];
        const bool zero = (mask && !(mask[c] > T(0))) || (relu && value < T(0));
        to[c] = zero ? T(0) : value;
    }
}

/// sums[f] = the sum of diff_dst[row, f] over its rows, in double.
template <class T>
void sum_rows(const T* diff_dst, std::int64_t rows, std::int64_t filters, T* sums,
              ThreadTeam& team) {
    constexpr std::int64_t kColumns = 64, kManyRows = 1024;
    const std::int64_t grain = rows < kManyRows ? 8 * kColumns : kColumns;
    team.for_pieces(filters, grain, [&](std::int64_t first, std::int64_t last, int) {
        for (std::int64_t begin = first; begin < last; begin += kColumns) {
            const std::int64_t columns = last - begin < kColumns ? last - begin : kColumns;
            double of_columns[kColumns] = {};
            for (std::int64_t row = 0; row < rows; ++row) {
                const T* from = diff_dst + row * filters + begin;
                for (std::int64_t j = 0; j < columns; ++j)
                    of_columns[j] += from[j];
            }
            for (std::int64_t j = 0; j < columns; ++j)
                sums[begin + j] = static_cast<T>(of_columns[j]);
        }
    });
}

}  // namespace
}  // namespace dtnn::kernels::DTNN_ISA
