#pragma once
/// The product of two matrices of each sample:
///
///     dst[n,i,j] = scale * sum over k of first[n,i,k] * second[n,k,j]
///
/// where `transpose_first` says that the first lies as [n,k,i], `transpose_second` that the second
/// lies as [n,j,k]. All are row-major.

#include "kernels/arguments/arguments.hpp"
#include "kernels/workspace/matmul.hpp"

namespace dtnn::kernels {

/// Where number (row, column) of a sample's matrix lies, as it is multiplied.
struct FactorLayout {
    std::int64_t sample = 0, row = 0, column = 0;  ///< from one to the next

    FactorLayout(const Dims& dims, bool transposed)
        : sample(dims[1] * dims[2]),
          row(transposed ? 1 : dims[2]),
          column(transposed ? dims[2] : 1) {}
    DTNN_DEVICE std::int64_t at(std::int64_t n, std::int64_t i, std::int64_t j) const {
        return n * sample + i * row + j * column;
    }
};

template <class T>
struct MatmulArguments : FromOperands {
    bool transpose_first = o.problem.flag("transpose_first");
    bool transpose_second = o.problem.flag("transpose_second");
    std::int64_t batch = o.problem.destinations[0].dims[0];
    std::int64_t rows = o.problem.destinations[0].dims[1];
    std::int64_t columns = o.problem.destinations[0].dims[2];
    std::int64_t summed = o.problem.sources[0].dims[transpose_first ? 1 : 2];
    FactorLayout first_layout{o.problem.sources[0].dims, transpose_first};
    FactorLayout second_layout{o.problem.sources[1].dims, transpose_second};
    double scale = o.problem.real("scale");
    const T* first = o.source("first");
    const T* second = o.source("second");
    T* dst = o.result("dst");
    std::byte* workspace = o.scratch();

    explicit MatmulArguments(const Operands& operands) : FromOperands(operands) {}
};

}  // namespace dtnn::kernels
