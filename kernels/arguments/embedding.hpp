#pragma once
/// A table of rows, looked up by integers: dst[r, u] = weights[indices[r], u], r running over all
/// axes of the indices; a row of zeros where an index is outside of the table. The gradient of the
/// table is, for each of its rows, the sum of the gradients of the places that have read it, in the
/// order of the places; zeros where none has.

#include "kernels/arguments/arguments.hpp"

namespace dtnn::kernels {

template <class T>
struct EmbeddingArguments : FromOperands {
    using FromOperands::FromOperands;
    std::int64_t rows = o.source("indices").elements(),
                 entries = o.source("weights").type()->dims[0],
                 units = o.source("weights").type()->dims[1];
    const std::int32_t* indices = o.source("indices");
    const T* weights = o.source("weights");
    T* dst = o.result("dst");
};

template <class T>
struct EmbeddingBackwardArguments : FromOperands {
    using FromOperands::FromOperands;
    std::int64_t rows = o.source("indices").elements(),
                 entries = o.result("diff_weights").type()->dims[0],
                 units = o.result("diff_weights").type()->dims[1];
    const std::int32_t* indices = o.source("indices");
    const T* diff_dst = o.source("diff_dst");
    T* diff_weights = o.result("diff_weights");
};

}  // namespace dtnn::kernels
