#pragma once
/// Sums whose order is fixed: the same bits in every run and on every device.

#include "kernels/cuda/chunks.hpp"
#include "kernels/cuda/launch.hpp"

namespace dtnn::kernels::cuda {

/// N sums that travel together.
template <int N>
struct Sums {
    double of[N];
};

template <int N>
struct SharedSums {
    Sums<N> by_thread[kThreads];
};

inline constexpr int kSumLanes = 16;  ///< kThreads is a multiple of it

/// For each group: finish(group, Sums<N>) of the sums over k = 0 .. length - 1 of term(group, k),
/// a Sums<N>. A thread adds every kThreads-th term, then 16 threads add 16 threads each, then one
/// adds those. `length` of a group may be read by a function of the group.
template <int N, class Length, class Term, class Finish>
void reduce(const Launch& launch, std::int64_t groups, const Length& length, const Term& term,
            const Finish& finish) {
    using Shared = SharedSums<N>;
    launch.template groups<Shared>(
        groups,
        [=] DTNN_DEVICE(std::int64_t group, int thread, Shared& shared) {
            Sums<N> sums = {};
            const std::int64_t end = length(group);
            for (std::int64_t k = thread; k < end; k += kThreads) {
                const Sums<N> more = term(group, k);
                for (int n = 0; n < N; ++n)
                    sums.of[n] += more.of[n];
            }
            shared.by_thread[thread] = sums;
        },
        [=] DTNN_DEVICE(std::int64_t, int thread, Shared& shared) {
            if (thread % kSumLanes != 0) return;
            Sums<N>& sums = shared.by_thread[thread];
            for (int other = 1; other < kSumLanes; ++other)
                for (int n = 0; n < N; ++n)
                    sums.of[n] += shared.by_thread[thread + other].of[n];
        },
        [=] DTNN_DEVICE(std::int64_t group, int thread, Shared& shared) {
            if (thread != 0) return;
            Sums<N> sums = shared.by_thread[0];
            for (int other = kSumLanes; other < kThreads; other += kSumLanes)
                for (int n = 0; n < N; ++n)
                    sums.of[n] += shared.by_thread[other].of[n];
            finish(group, sums);
        });
}

/// finish(Sums<N>) of the sums over i = 0 .. count - 1 of term(i), by way of the sums of chunks,
/// which `of_chunks` (sum_chunks_of(count) Sums<N>) holds.
template <int N, class Term, class Finish>
void reduce_all(const Launch& launch, std::int64_t count, Sums<N>* of_chunks, const Term& term,
                const Finish& finish) {
    const std::int64_t chunks = sum_chunks_of(count);
    reduce<N>(
        launch, chunks,
        [=] DTNN_DEVICE(std::int64_t chunk) {
            const std::int64_t left = count - chunk * kSumChunk;
            return left < kSumChunk ? left : kSumChunk;
        },
        [=] DTNN_DEVICE(std::int64_t chunk, std::int64_t k) { return term(chunk * kSumChunk + k); },
        [=] DTNN_DEVICE(std::int64_t chunk, const Sums<N>& sums) { of_chunks[chunk] = sums; });
    reduce<N>(
        launch, 1, [=] DTNN_DEVICE(std::int64_t) { return chunks; },
        [=] DTNN_DEVICE(std::int64_t, std::int64_t k) { return of_chunks[k]; },
        [=] DTNN_DEVICE(std::int64_t, const Sums<N>& sums) { finish(sums); });
}

}  // namespace dtnn::kernels::cuda
