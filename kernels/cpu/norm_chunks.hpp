#pragma once
/// Sums over all elements of a parameter that do not depend on the number of threads.

#include "kernels/cpu/row_sums.hpp"
#include "kernels/thread_team.hpp"
#include "kernels/workspace/update.hpp"

namespace dtnn::kernels::DTNN_ISA {

/// Into sums[0, kSums): what `terms(lanes, i, sums)` (row_sums.hpp) adds over the elements
/// [0, count). `chunks` has room for kSums numbers for every chunk.
template <class T, int kSums, class Terms>
void chunked_sums(std::int64_t count, double* chunks, double (&sums)[kSums], ThreadTeam& team,
                  Terms terms) {
    const std::int64_t all = norm_chunks_of(count);
    team.for_pieces(all, 1, [=](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t chunk = begin; chunk < end; ++chunk) {
            const std::int64_t first = chunk * kNormChunk;
            const std::int64_t length = count - first < kNormChunk ? count - first : kNormChunk;
            double own[kSums] = {};
            row_sums<T, kSums>(length, own, [=](auto lanes, std::int64_t i, auto& into) {
                terms(lanes, first + i, into);
            });
            for (int sum = 0; sum < kSums; ++sum)
                chunks[chunk * kSums + sum] = own[sum];
        }
    });
    for (int sum = 0; sum < kSums; ++sum)
        sums[sum] = 0;
    for (std::int64_t chunk = 0; chunk < all; ++chunk)
        for (int sum = 0; sum < kSums; ++sum)
            sums[sum] += chunks[chunk * kSums + sum];
}

}  // namespace dtnn::kernels::DTNN_ISA
