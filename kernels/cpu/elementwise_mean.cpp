#include "kernels/arguments/elementwise_mean.hpp"

#include "kernels/cpu/expression_chunk.hpp"
#include "kernels/thread_team.hpp"
#include "kernels/workspace/loss.hpp"

namespace dtnn::kernels::DTNN_ISA {

/// Every stretch of the elements has its own sum, and these are added in order, so that the result
/// does not depend on the number of threads.
DTNN_KERNEL(elementwise_mean_chunked, ElementwiseMeanArguments) {
    const std::int64_t count = a.terms.count;
    const std::int64_t chunks = elementwise_mean_chunks_of(count);
    double* const sums = a.sums_of_chunks;
    fill_tiles(a.terms);
    team.for_pieces(chunks, 1, [&](std::int64_t begin, std::int64_t end, int) {
        alignas(64) T slots[kExpressionSlots][kChunk<T>];
        for (std::int64_t chunk = begin; chunk < end; ++chunk) {
            const std::int64_t first = chunk * kElementwiseMeanChunk;
            const std::int64_t last =
                count - first < kElementwiseMeanChunk ? count : first + kElementwiseMeanChunk;
            double sum = 0;
            for_values(a.terms, first, last, slots,
                       [&](const T* terms, std::int64_t, std::int64_t here) {
#pragma omp simd reduction(+ : sum)
                           for (std::int64_t i = 0; i < here; ++i)
                               sum += double(terms[i]);
                       });
            sums[chunk] = sum;
        }
    });
    double total = 0;
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
        total += sums[chunk];
    if (a.sum != nullptr) {
        *a.sum = total;
    } else {
        *a.mean = T(total / a.divisor);
    }
}

}  // namespace dtnn::kernels::DTNN_ISA
