/// Products of two matrices of each sample: a piece is a block of a sample's result. Of the second
/// matrix a panel as wide as the block is copied, whichever way it lies, so that rows of it are
/// whole vectors; the first is read where it lies. What lies behind the last column is computed and
/// not stored. Sums along the inner dimension are made in the type of the numbers, in its order.

#include "kernels/arguments/matmul.hpp"

#include "kernels/cpu/simd.hpp"
#include "kernels/cpu/small_products.hpp"
#include "kernels/thread_team.hpp"

namespace dtnn::kernels::DTNN_ISA {
namespace {

/// Where a block of the result lies.
struct ResultBlock {
    std::int64_t n, row, rows, column, columns;
};

/// Rows [k, k + depth) of the second matrix, of the block's columns, and zeros up to `width`.
template <class T>
void put_panel(T* to, const MatmulArguments<T>& a, const ResultBlock& block, std::int64_t k,
               std::int64_t depth, std::int64_t width) {
    const T* const from = a.second + a.second_layout.at(block.n, k, block.column);
    const std::int64_t row = a.second_layout.row, column = a.second_layout.column;
    if (column == 1) {
        for (std::int64_t d = 0; d < depth; ++d) {
            for (std::int64_t j = 0; j < block.columns; ++j)
                to[d * width + j] = from[d * row + j];
        }
    } else {
        for (std::int64_t j = 0; j < block.columns; ++j) {
            for (std::int64_t d = 0; d < depth; ++d)
                to[d * width + j] = from[d * row + j * column];
        }
    }
    for (std::int64_t d = 0; d < depth; ++d) {
        for (std::int64_t j = block.columns; j < width; ++j)
            to[d * width + j] = 0;
    }
}

template <class T>
void matmul_block(const MatmulArguments<T>& a, const ResultBlock& block, T* panel, T* sums) {
    const std::int64_t width = whole_vectors<T>(block.columns);
    clear_numbers(sums, block.rows * width);
    for (std::int64_t k = 0; k < a.summed; k += kMatmulDepth) {
        const std::int64_t depth = a.summed - k < kMatmulDepth ? a.summed - k : kMatmulDepth;
        put_panel(panel, a, block, k, depth, width);
        const SmallMatrix<T> rows{a.first + a.first_layout.at(block.n, block.row, k),
                                  a.first_layout.row, a.first_layout.column};
        multiply_small(block.rows, depth, width, rows, panel, width, sums, width);
    }
    const T scale = T(a.scale);
    for (std::int64_t i = 0; i < block.rows; ++i) {
        T* const to = a.dst + (block.n * a.rows + block.row + i) * a.columns + block.column;
        for (std::int64_t j = 0; j < block.columns; ++j)
            to[j] = scale * sums[i * width + j];
    }
}

}  // namespace

DTNN_KERNEL(matmul_blocks, MatmulArguments) {
    const std::int64_t down = (a.rows + kMatmulRows - 1) / kMatmulRows;
    const std::int64_t across = (a.columns + kMatmulColumns - 1) / kMatmulColumns;
    team.for_pieces(a.batch * down * across, 1, [&](auto begin, auto end, int thread) {
        T* const panel = reinterpret_cast<T*>(a.workspace) + thread * kMatmulElements;
        T* const sums = panel + kMatmulColumns * kMatmulDepth;
        for (std::int64_t piece = begin; piece < end; ++piece) {
            const std::int64_t row = piece / across % down * kMatmulRows;
            const std::int64_t column = piece % across * kMatmulColumns;
            const std::int64_t rows = a.rows - row < kMatmulRows ? a.rows - row : kMatmulRows;
            const std::int64_t columns =
                a.columns - column < kMatmulColumns ? a.columns - column : kMatmulColumns;
            matmul_block(a, {piece / across / down, row, rows, column, columns}, panel, sums);
        }
    });
}

}  // namespace dtnn::kernels::DTNN_ISA
