#pragma once
/// BLIS's kernels of an instruction set. Left to itself BLIS takes those of the processor that it
/// finds: then results would depend on more than the plan, and processors newer than BLIS get its
/// portable kernels, at a sixth of the speed (0.9 on a Zen 5).

#include <cstdint>

namespace dtnn::kernels {

/// The function that multiplies a tile of the result, and how large BLIS makes blocks for it:
/// c[rows, columns] of packed panels of `rows` and of `columns`.
struct BlisKernels {
    void* context = nullptr;   ///< a cntx_t, as bli_sgemm_ex and its like take it
    void* tile = nullptr;      ///< a sgemm_ukr_ft or dgemm_ukr_ft
    std::int64_t rows = 0;     ///< MR
    std::int64_t columns = 0;  ///< NR
    std::int64_t depth = 0;    ///< KC: what is summed over at a time
    std::int64_t block = 0;    ///< MC: rows that are multiplied at a time
    bool writes_rows = false;  ///< it is best at a result whose rows are contiguous
};

/// Those for vectors of so many bytes: 64, AVX-512; 32, AVX2. Else, and where this BLIS was built
/// without them, those that BLIS takes for the processor. Any thread may ask.
BlisKernels blis_kernels(int vector_bytes, bool in_double);

}  // namespace dtnn::kernels
