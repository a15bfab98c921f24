#include "kernels/arguments/elementwise_mean.hpp"

#include "kernels/cpu/expression_chunk.hpp"
#include "kernels/thread_team.hpp"
#include "kernels/workspace/loss.hpp"

namespace dtnn::kernels::DTNN_ISA {

/// Every stretch of the elements has its own sum, and these are added in order, so that the result
/// does not depend on the number of threads.
template <class T>
void elementwise_mean_chunked(const ElementwiseMeanArguments<T>& arguments, ThreadTeam& team) {
    const std::int64_t count = arguments.terms.count;
    const std::int64_t chunks = elementwise_mean_chunks_of(count);
    double* const sums = arguments.sums_of_chunks;
    fill_tiles(arguments.terms);
    team.for_pieces(chunks, 1, [&](std::int64_t begin, std::int64_t end, int) {
        alignas(64) T stack[kStackDepth][kChunk<T>];
        for (std::int64_t chunk = begin; chunk < end; ++chunk) {
            const std::int64_t first = chunk * kElementwiseMeanChunk;
            const std::int64_t last =
                count - first < kElementwiseMeanChunk ? count : first + kElementwiseMeanChunk;
            double sum = 0;
            for_values(arguments.terms, first, last, stack,
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
    if (arguments.sum != nullptr) {
        *arguments.sum = total;
    } else {
        *arguments.mean = T(total / arguments.divisor);
    }
}

DTNN_KERNEL(elementwise_mean_chunked, ElementwiseMeanArguments)

}  // namespace dtnn::kernels::DTNN_ISA
